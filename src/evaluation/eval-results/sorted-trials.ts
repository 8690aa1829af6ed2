import { ClientError, tooLarge } from '../../errors.ts'
import { memberText } from '../../json/lossless-json.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { readRowBinary, wholeRows } from '../../stores/trace-db/row-binary.ts'
import type { Selection } from '../../trace/calls/sql/selection.ts'
import { bytesDigest } from '../../trace/digest.ts'
import { digestOf } from '../../trace/digest-thread.ts'
import { internalRef, isRef } from '../../trace/ref-uri.ts'
import { yielding } from '../../yielding.ts'
import * as queries from './queries.ts'

/** Trials that are sorted into rows at once; each takes some two hundred bytes of memory. */
const TRIALS_MAX = 1_000_000

/** A trial's position; its payloads stay in the database. */
export interface TrialPosition {
  id: string
  root: string
  /** Microseconds since 1970. */
  startedAt: number
  /** Of all its payloads. */
  bytes: number
}

/** Trials of one example, in the order in which they began. */
export interface RowOfTrials {
  digest: string
  /** A trial's example, where it is a ref. */
  ref: string | undefined
  trials: TrialPosition[]
}

/**
 * Sorts trials into rows by their small columns, one after the other.
 * @throws 413 for more trials than can be sorted.
 */
export async function sortTrials(
  traces: TraceDb,
  selection: Selection,
  signal: AbortSignal,
): Promise<RowOfTrials[]> {
  const rows = new Map<string, RowOfTrials>()
  let count = 0
  for await (const piece of wholeRows(traces, queries.selectTrialPositions(selection), signal)) {
    for await (const { trial, weave, inputs } of yielding(trialsIn(piece))) {
      if (++count > TRIALS_MAX)
        throw tooLarge(`There are more than ${TRIALS_MAX} trials: ask for fewer evaluations at once`)
      const { digest, ref } = await exampleOf(weave, inputs)
      const found = rows.get(digest) ?? { digest, ref, trials: [] }
      found.trials.push(trial)
      rows.set(digest, found)
    }
  }
  for (const { trials } of rows.values()) trials.sort(byStart)
  return [...rows.values()].sort((a, b) => compare(a.digest, b.digest))
}

/** Trials with what shows their examples. */
function* trialsIn(piece: Parameters<typeof readRowBinary>[0]) {
  for (const row = readRowBinary(piece); !row.done(); ) {
    const trial = { id: row.text(), root: row.text(), startedAt: row.micros(), bytes: row.count() }
    yield { trial, weave: row.text(), inputs: row.text() }
  }
}

/** A row, for reading its trials. */
export interface ShownRow {
  digest: string
  ids: readonly string[]
}

/**
 * A page of the rows and their number, without reading all trials; undefined where examples are not rows of datasets,
 * whose digests the database cannot compute, and for a page after the last. A trial that was begun twice with different
 * examples is in the rows of both.
 */
export async function pageOfRows(
  traces: TraceDb,
  selection: Selection,
  page: { limit: number; offset: number },
  signal: AbortSignal,
): Promise<{ rows: ShownRow[]; total: number } | undefined> {
  const query = queries.selectRowPage(selection, page)
  const found = await rowsOf(traces.query<queries.RowPageRow>(query, signal))
  const [first] = found
  if (first === undefined || first.has_others === 1) return undefined
  const rows = found.map(({ digest, ids }) => ({ digest, ids: [...new Set(ids)] }))
  return { rows, total: first.total }
}

function byStart(a: TrialPosition, b: TrialPosition): number {
  return a.startedAt - b.startedAt || compare(a.id, b.id)
}

/** The order of texts by their UTF-16 units. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Wire: a row of a dataset is named by its digest in there, any other example by the digest of its JSON, or its text.
 * @param weave the example where it is a text that begins as refs do
 * @param inputs in which any other example is
 */
async function exampleOf(
  weave: string,
  inputs: string,
): Promise<{ digest: string; ref: string | undefined }> {
  const json = weave === '' ? (memberText(inputs, 'example') ?? 'null') : undefined
  if (json !== undefined && !json.startsWith('"')) return { digest: await valueDigest(json), ref: undefined }
  const text = json === undefined ? weave : String(JSON.parse(json))
  const ref = isRef(text) ? text : undefined
  const inDataset = /^.+\/attr\/rows\/id\/([^/]+)$/s.exec(text)?.[1]
  const digest = inDataset ?? bytesDigest(ref === undefined ? text : internalRef(ref))
  return { digest, ref }
}

/** A value nested too deeply for a digest cannot be a dataset's row, so the digest of its text identifies it. */
async function valueDigest(json: string): Promise<string> {
  try {
    return await digestOf(json)
  } catch (error) {
    if (error instanceof ClientError && error.status === NOT_DIGESTIBLE) return bytesDigest(json)
    throw error
  }
}

/** The status with which such a value is refused. */
const NOT_DIGESTIBLE = 400
