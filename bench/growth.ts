/**
 * A project that grows: calls come in as fast as they are taken, in portions, and then the server starts again over its
 * folder and is asked: by time window and without, with nothing in the caches of the disk and with all of it.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { showProgress } from '../scripts/progress.ts'
import { writeResults } from './results-file.ts'
import { median, percentile } from './statistics.ts'
import { importCalls, msOf } from './traces/measure.ts'
import { coreShare, diskBytes, heldMib, watchMemory } from './traces/process-cost.ts'
import { type Question, questions, within } from './traces/questions.ts'
import { type BenchServer, startServer } from './traces/servers.ts'
import { jsonOf, openTarget, type Target } from './traces/target.ts'
import { untilIdle } from './traces/until-idle.ts'
import { requestOf, WIRES } from './traces/wires.ts'
import { CALLS_PER_TRACE, makeCalls, STEP_MS, type WorkCall } from './traces/workload.ts'

/** What one portion of the calls took. */
interface Portion {
  calls: number
  perSecond: number
  diskBytes: number
  peakMib: number
}

/** Milliseconds of one question: each time another one like it. */
interface Asked {
  /** The first after a start without cached files. */
  coldMs: number
  warmMs: number[]
}

/** What filling the project took. */
interface Growth {
  portions: Portion[]
  /** How long the server still merged when the last call was in. */
  mergingMs: number
  /** Meanwhile. Indexes of words are built then. */
  mergingPeakMib: number
  settledDiskBytes: number
  sentBytes: number
}

/** What a server over the full folder does. */
interface Standing {
  idleMib: number
  idleShare: number | undefined
  /** From the start of the process over the full folder to the first answer. */
  startMs: number
  questions: Record<string, Asked>
  readPeakMib: number
}

type Results = Partial<Growth> & Standing

const PORTIONS = 10

/** Of each question, besides the first. */
const TIMES = 20

const MERGING_MS_MAX = 1_800_000
const IDLE_MS = 20_000

const DAY_MS = 86_400_000

const { project } = WIRES.complete

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      calls: { type: 'string', default: '1040000' },
      folder: { type: 'string' },
      json: { type: 'string' },
    },
  })
  const calls = Number(values.calls)
  if (!(Number.isInteger(calls) && calls > 0 && calls % 80_000 === 0))
    throw new Error('--calls takes multiples of 80000')
  const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'heddle-bench-'))
  const isFilled = existsSync(join(folder, 'data'))
  try {
    const grown = isFilled ? undefined : await grow(folder, calls)
    const results: Results = { ...grown, ...(await askAgain(folder, calls)) }
    show(results)
    writeResults(values.json, results)
  } finally {
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts a server over a full folder, asks it, and ends it. */
async function askAgain(folder: string, calls: number): Promise<Standing> {
  forgetFiles()
  const server = await startServer('Heddle', folder)
  try {
    const idle = { idleMib: heldMib(server.pid), idleShare: await coreShare(server.pid, IDLE_MS) }
    using memory = watchMemory(server.pid)
    const questions = await ask(server, calls)
    return { startMs: server.startMs, ...idle, questions, readPeakMib: memory.takePeakMib() }
  } finally {
    await server.kill()
  }
}

/** Fills the project, portion by portion, and waits until nothing is merged any more. */
async function grow(folder: string, calls: number): Promise<Growth> {
  const server = await startServer('Heddle', folder)
  try {
    using memory = watchMemory(server.pid)
    const portions: Portion[] = []
    const portion = calls / PORTIONS
    let sentBytes = 0
    for (let first = 0; first < calls; first += portion) {
      const taken = await importCalls(server, WIRES.complete, { calls: portion, first, ask: [] })
      sentBytes += taken.sentBytes
      portions.push({
        calls: first + portion,
        perSecond: taken.acknowledgedPerSecond,
        diskBytes: diskBytes(folder),
        peakMib: memory.takePeakMib(),
      })
      process.stdout.write(`${JSON.stringify(portions.at(-1))}\n`)
    }
    const mergingMs = await msOf(() => untilIdle(server, MERGING_MS_MAX))
    const mergingPeakMib = memory.takePeakMib()
    return { portions, mergingMs, mergingPeakMib, sentBytes, settledDiskBytes: diskBytes(folder) }
  } finally {
    await server.kill()
  }
}

/** Empties the file caches of the system, where that is allowed, so that the first reads come from the disk. */
function forgetFiles(): void {
  try {
    execFileSync('sh', ['-c', 'sync; echo 3 > /proc/sys/vm/drop_caches'], { stdio: 'ignore' })
  } catch {
    process.stdout.write('File caches could not be emptied: cold times are those of a restart alone.\n')
  }
}

async function ask(server: BenchServer, calls: number): Promise<Results['questions']> {
  const target = openTarget(server.url, 1)
  const progress = showProgress(`${TIMES + 1} of each question`)
  progress.step(1, 1, TIMES + 1)
  const times: Results['questions'] = {}
  try {
    // In turns, so that a question is asked twice only after all the others.
    for (let number = 0; number <= TIMES; number++) {
      const call = await callNumbered(target, Math.floor((calls * (number + 0.5)) / (TIMES + 1)))
      for (const [name, question] of Object.entries(allQuestions(call, calls, number))) {
        progress.show(name)
        const ms = await msOf(() => answered(target, name, question))
        const known = times[name]
        if (known === undefined) times[name] = { coldMs: ms, warmMs: [] }
        else known.warmMs.push(ms)
      }
      progress.advance()
    }
    progress.done()
    return times
  } catch (error) {
    progress.failed()
    throw error
  } finally {
    await target.close()
  }
}

const Found = z.object({ id: z.string(), trace_id: z.string() })

/** The call of a number as it is stored: its ids are random. */
async function callNumbered(target: Target, number: number): Promise<WorkCall> {
  const [made] = makeCalls(1, CALLS_PER_TRACE, number)
  if (made === undefined) throw new TypeError('one call is made')
  const all = {
    path: '/calls/stream_query',
    body: { project_id: project, limit: 1, query: { $expr: { $eq: [{ $literal: 1 }, { $literal: 1 }] } } },
  }
  const { request } = requestOf(
    within({ ...all, expected: 1, rows: () => 1 }, made.startedMs, made.startedMs + STEP_MS),
  )
  const { id, trace_id } = Found.parse(jsonOf(await target.ask(request)))
  return { ...made, id, trace: trace_id }
}

/** Those of every benchmark, and those that look at the calls of one day alone. */
function allQuestions(call: WorkCall, calls: number, number: number): Record<string, Question> {
  const whole = questions(project, call, calls, number)
  const from = call.startedMs - DAY_MS / 2
  const days = ['JSON filter', 'text search', 'count with a filter'].flatMap((name) => {
    const question = whole[name]
    return question === undefined
      ? []
      : [[`${name}, one day`, within(question, from, from + DAY_MS)] as const]
  })
  return { ...whole, ...Object.fromEntries(days) }
}

/** @throws Error for an answer with another number of rows, where that is known. */
async function answered(target: Target, name: string, question: Question): Promise<void> {
  const { request, expected, rows } = requestOf(question)
  const found = rows(await target.ask(request))
  if (!Number.isNaN(expected) && found !== expected)
    throw new Error(`${name}: ${found} rows, not ${expected}`)
}

function show(results: Results): void {
  const { portions = [], mergingMs, mergingPeakMib = 0, settledDiskBytes, sentBytes } = results
  const first = portions[0]?.perSecond ?? Number.NaN
  const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`
  const lines = portions.map(
    ({ calls, perSecond, diskBytes: bytes, peakMib: peak }) =>
      `${calls} calls: ${Math.round(perSecond)}/s (${(perSecond / first).toFixed(2)} of the first), ${mib(bytes)} on disk, memory at most ${Math.round(peak)} MiB`,
  )
  if (mergingMs !== undefined && settledDiskBytes !== undefined && sentBytes !== undefined)
    lines.push(
      `idle ${Math.round(mergingMs / 1000)} s later: ${mib(settledDiskBytes)} for ${mib(sentBytes)} sent, memory meanwhile at most ${Math.round(mergingPeakMib)} MiB`,
    )
  lines.push(
    `start over the full folder: ${Math.round(results.startMs)} ms; idle ${Math.round(results.idleMib)} MiB, ${(100 * (results.idleShare ?? Number.NaN)).toFixed(2)} % of a core`,
    `memory after all questions: at most ${Math.round(results.readPeakMib)} MiB`,
    '| question | cold ms | warm p50 | warm p95 |',
    '|---|---|---|---|',
    ...Object.entries(results.questions).map(
      ([name, { coldMs, warmMs }]) =>
        `| ${name} | ${coldMs.toFixed(0)} | ${median(warmMs).toFixed(0)} | ${percentile(warmMs, 95).toFixed(0)} |`,
    ),
  )
  process.stdout.write(`${lines.join('\n')}\n`)
}

await main()
