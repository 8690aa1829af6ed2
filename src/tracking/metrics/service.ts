import { setImmediate } from 'node:timers/promises'
import { invalidRequest, tooLarge } from '../../errors.ts'
import { firstOf, type Query, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { yielding } from '../../yielding.ts'
import { parseLine, textOf } from './json-lines.ts'
import * as queries from './queries.ts'
import { FROM_COLUMNS, type MetricRow, rowsOfLine, STEP_END, type Stream, stepOf, timeOf } from './rows.ts'

/**
 * Steps that one answer holds at most: clients page by a thousand, and users ask for all of a run with a large number.
 */
const STEPS_MAX = 100_000

/** Characters of the lines of one answer: a step may hold any number of keys, and values of any length. */
export const LINES_CHARS_MAX = 32 * 1024 * 1024

/** Keys that one answer or request names at most; a run with more uses names as data. */
export const KEYS_MAX = 10_000

/** Lines of a log that one answer holds at most. */
const LOG_LINES_MAX = 10_000

/** Lines that are parsed before other requests run. */
const LINES_PER_TURN = 5_000

/**
 * Rows that are made and encoded at once: some tens of milliseconds, and a part of the table that is worth its files.
 */
export const ROWS_PER_INSERT = 5_000

/** Characters of keys and values inserted at once: nested values repeat the names around them in each key. */
const CHARS_PER_INSERT = 8 * 1024 * 1024

const ALL_STEPS = { stepFrom: 0, stepBefore: STEP_END }

export type { PointRow, RunKey } from './queries.ts'

/** Which part of a run's steps. */
export interface StepRange {
  stream: Stream
  stepFrom: number
  stepBefore: number
  limit: number
}

/** Which lines to sample: of all steps, where no range is given. */
export type SampleWanted = Omit<queries.SampleWanted, keyof StepBounds> & Partial<StepBounds>

type StepBounds = Pick<StepRange, 'stepFrom' | 'stepBefore'>

/** Metrics of runs, step by step. */
export interface Metrics extends MetricsWriting {
  /** Whole steps as lines, oldest first. @throws 400 or 413 for more than one answer can hold */
  lines(run: queries.RunKey, range: StepRange): Promise<string[]>
  /** The newest line; undefined when there is none. */
  lastLine(run: queries.RunKey, stream: Stream): Promise<string | undefined>
  /** The lowest step of the history; undefined when there is none. */
  firstStep(run: queries.RunKey): Promise<number | undefined>
  /** How many steps the history has. */
  countSteps(run: queries.RunKey): Promise<number>
  /**
   * Lines spread evenly over the run, or over a range of its steps; with keys, only lines that have all of them, and no
   * other members.
   * @throws 400 or 413 for more than one answer can hold
   */
  sample(run: queries.RunKey, wanted: SampleWanted): Promise<string[]>
  keys(run: queries.RunKey, stream: Stream): Promise<{ key: string; count: number; numeric: number }[]>
  /** Points of each key after a step, oldest first. */
  points(run: queries.RunKey, wanted: queries.PointsWanted & { limit: number }): Promise<queries.PointRow[]>
  /** The same, of all points so many of each key that a line through them looks like one through all. */
  thinned(
    run: queries.RunKey,
    wanted: queries.PointsWanted & { samples: number },
  ): Promise<queries.PointRow[]>
  /** Lines of the run's output by number. */
  logLines(
    run: queries.RunKey,
    wanted: { lineFrom: number; lineBefore: number; limit: number },
  ): Promise<{ line: number; text: string }[]>
}

export function createMetrics({ traces }: { traces: TraceDb }): Metrics {
  /** Row by row: as rows, steps take several times the memory. */
  async function linesOf(query: Query, stream: Stream): Promise<string[]> {
    const found: string[] = []
    let chars = 0
    for await (const row of yielding(traces.query<queries.StepRow>(query))) {
      const line = lineOf(row, stream)
      chars += line.length
      if (chars > LINES_CHARS_MAX)
        throw tooLarge(
          `These lines have more than ${LINES_CHARS_MAX} characters: ask for fewer, or for some keys`,
        )
      found.push(line)
    }
    return found
  }

  async function lines(run: queries.RunKey, range: StepRange): Promise<string[]> {
    checkSteps(range.limit)
    return linesOf(queries.selectSteps(run, { ...range, order: 'ASC' }), range.stream)
  }

  async function lastLine(run: queries.RunKey, stream: Stream): Promise<string | undefined> {
    const wanted = { stream, ...ALL_STEPS, limit: 1, order: 'DESC' as const }
    const row = await firstOf(traces.query<queries.StepRow>(queries.selectSteps(run, wanted)))
    return row && lineOf(row, stream)
  }

  async function sample(run: queries.RunKey, wanted: SampleWanted): Promise<string[]> {
    checkSteps(wanted.samples)
    const own = new Set(wanted.keys).difference(FROM_COLUMNS)
    const query = queries.selectSample(run, { ...ALL_STEPS, ...wanted, keys: [...own] })
    return linesOf(query, wanted.stream)
  }

  async function firstStep(run: queries.RunKey): Promise<number | undefined> {
    const row = await firstOf(traces.query<{ step: number }>(queries.selectFirstStep(run)))
    return row?.step
  }

  return {
    ...createMetricsWriting(traces),
    lines,
    lastLine,
    firstStep,
    countSteps: async (run) =>
      (await firstOf(traces.query<{ count: number }>(queries.countSteps(run))))?.count ?? 0,
    sample,
    keys: (run, stream) => rowsOf(traces.query(queries.selectKeys(run, { stream, limit: KEYS_MAX }))),
    points: (run, wanted) => rowsOf(traces.query(queries.selectPoints(run, wanted))),
    thinned: (run, wanted) => rowsOf(traces.query(queries.selectThinned(run, wanted))),
    logLines: (run, wanted) =>
      rowsOf(
        traces.query(
          queries.selectLogLines(run, { ...wanted, limit: Math.min(wanted.limit, LOG_LINES_MAX) }),
        ),
      ),
  }
}

/** @throws 400 for what would be cut, which a client would not see. */
function checkSteps(count: number): void {
  if (count < 1 || count > STEPS_MAX)
    throw invalidRequest(`Ask for 1 to ${STEPS_MAX} steps at once, not ${count}`)
}

/** What has been written of some lines. */
export interface Written {
  /** The highest step among them, -1 when there is none. */
  highestStep: number
  /** How many lines could not be read, and the number of the first. */
  unread: { count: number; first: number } | undefined
}

interface MetricsWriting {
  /**
   * Writes lines whose first has the number `offset`; the same lines again change nothing. Nothing is kept of a line
   * that is no JSON object.
   */
  write(
    run: queries.RunKey,
    chunk: { stream: Stream; offset: number; content: readonly string[]; fallbackTime: string },
  ): Promise<Written>
  /** Writes lines of the run's output. Wire: each begins with when it was written. */
  writeLog(
    run: queries.RunKey,
    chunk: { offset: number; content: readonly string[]; fallbackTime: string },
  ): Promise<void>
  delete(run: queries.RunKey): Promise<void>
  /** Deletes all but the history up to and with a step. */
  rewind(run: queries.RunKey, step: number): Promise<void>
}

function createMetricsWriting(traces: TraceDb): MetricsWriting {
  async function write(
    run: queries.RunKey,
    chunk: { stream: Stream; offset: number; content: readonly string[]; fallbackTime: string },
  ): Promise<Written> {
    const written: Written = { highestStep: -1, unread: undefined }
    function* rowsFrom(from: number): Generator<MetricRow> {
      for (const [index, text] of chunk.content.slice(from, from + LINES_PER_TURN).entries()) {
        const parsed = parseLine(text)
        const line = parsed ?? {}
        const number = chunk.offset + from + index
        if (parsed === undefined)
          written.unread = { first: number, ...written.unread, count: (written.unread?.count ?? 0) + 1 }
        const step = chunk.stream === 'history' ? stepOf(line, number) : number
        written.highestStep = Math.max(written.highestStep, step)
        yield* rowsOfLine(line, {
          ...run,
          stream: chunk.stream,
          step,
          time: timeOf(line) ?? chunk.fallbackTime,
        })
      }
    }
    for (let from = 0; from < chunk.content.length; from += LINES_PER_TURN)
      await insertPieces(traces, 'run_metrics', rowsFrom(from))
    return written
  }

  async function writeLog(
    run: queries.RunKey,
    chunk: { offset: number; content: readonly string[]; fallbackTime: string },
  ): Promise<void> {
    for (let from = 0; from < chunk.content.length; from += LINES_PER_TURN) {
      const rows = chunk.content.slice(from, from + LINES_PER_TURN).map((text, index) => ({
        ...run,
        line: chunk.offset + from + index,
        text,
        time: logTimeOf(text) ?? chunk.fallbackTime,
      }))
      await traces.insert('run_log_lines', rows)
    }
  }

  async function remove(run: queries.RunKey): Promise<void> {
    await traces.command(queries.deleteOf('run_metrics', run))
    await traces.command(queries.deleteOf('run_log_lines', run))
  }

  async function rewind(run: queries.RunKey, step: number): Promise<void> {
    await traces.command(queries.deleteAfter(run, step))
    await traces.command(queries.deleteOf('run_log_lines', run))
  }

  return { write, writeLog, delete: remove, rewind }
}

/** Inserts rows in order, a part of them at a time, with a turn for other requests after each. */
async function insertPieces(traces: TraceDb, table: string, rows: Iterable<MetricRow>): Promise<void> {
  let piece: MetricRow[] = []
  let chars = 0
  for (const row of rows) {
    piece.push(row)
    chars += row.key.length + (row.json?.length ?? 0)
    if (piece.length < ROWS_PER_INSERT && chars < CHARS_PER_INSERT) continue
    await traces.insert(table, piece)
    piece = []
    chars = 0
  }
  await traces.insert(table, piece)
  // A piece without rows is no request to the database.
  await setImmediate()
}

/** Wire: `2026-01-01T00:00:00.000000 text`, with `ERROR ` before it for what went to standard error. */
function logTimeOf(text: string): string | undefined {
  const [, time] = /^(?:ERROR )?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}) /.exec(text) ?? []
  return time === undefined ? undefined : `${time}Z`
}

function lineOf(row: queries.StepRow, stream: Stream): string {
  const members = row.items.map(([key, value, json]) => `${JSON.stringify(key)}:${json ?? textOf(value)}`)
  const step = stream === 'history' ? [`"_step":${row.step}`] : []
  return `{${[...members, ...step, `"_timestamp":${secondsOf(row.time)}`].join(',')}}`
}

function secondsOf(iso: string): number {
  return Date.parse(`${iso.slice(0, 19)}Z`) / 1000 + Number(`0${iso.slice(19, 26)}`)
}
