import { tooLarge } from '../../errors.ts'
import { memberText } from '../../lossless-json.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import type { Selection } from '../calls/selection.ts'
import { bytesDigest, jsonDigest } from '../digest.ts'
import { internalRef, isRef } from '../refs/ref-uri.ts'
import * as queries from './queries.ts'

/** Trials that are sorted into rows at once; each takes some two hundred bytes of memory. */
const TRIALS_MAX = 1_000_000

/** Where a trial belongs; its payloads stay in the database. */
export interface Place {
  id: string
  root: string
  startedAt: string
  /** Of all its payloads. */
  bytes: number
}

/** Trials of one example, in the order in which they began. */
export interface PlacedRow {
  digest: string
  /** The example where it is a ref. */
  ref: string | undefined
  trials: Place[]
}

/**
 * Sorts trials into rows by what is light of them, one after the other.
 * @throws 413 for more trials than can be sorted.
 */
export async function placeTrials(
  traces: TraceDb,
  selection: Selection,
  signal: AbortSignal,
): Promise<PlacedRow[]> {
  const rows = new Map<string, PlacedRow>()
  let count = 0
  for await (const row of traces.query<queries.PlaceRow>(queries.selectPlaces(selection), signal)) {
    if (++count > TRIALS_MAX)
      throw tooLarge(`There are more than ${TRIALS_MAX} trials: ask for fewer evaluations at once`)
    const { digest, ref } = exampleOf(row)
    const placed = rows.get(digest) ?? { digest, ref, trials: [] }
    placed.trials.push({ id: row.id, root: row.root, startedAt: row.started_at, bytes: row.bytes })
    rows.set(digest, placed)
  }
  for (const { trials } of rows.values()) trials.sort(byStart)
  return [...rows.values()].sort((a, b) => compare(a.digest, b.digest))
}

/**
 * Some of the rows, and how many there are, without bringing all trials here; undefined where examples are no rows of
 * datasets, whose digests the database cannot tell, and for a page after the last.
 */
export async function placePage(
  traces: TraceDb,
  selection: Selection,
  page: { limit: number; offset: number },
  signal: AbortSignal,
): Promise<{ rows: PlacedRow[]; total: number } | undefined> {
  const query = queries.selectPlacedRows(selection, page)
  const found = await rowsOf(traces.query<queries.PlacedRowRow>(query, signal))
  const [first] = found
  if (first === undefined || first.has_others === 1) return undefined
  const rows = found.map(({ digest, ref, trials }) => ({
    digest,
    ref,
    trials: trials.map(([id, root, startedAt, bytes]) => ({ id, root, startedAt, bytes })).sort(byStart),
  }))
  return { rows, total: first.total }
}

function byStart(a: Place, b: Place): number {
  return compare(a.startedAt, b.startedAt) || compare(a.id, b.id)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Wire: a row of a dataset is named by its digest in there, any other example by the digest of its JSON. */
function exampleOf({ is_text, example }: queries.PlaceRow): { digest: string; ref: string | undefined } {
  if (!is_text) return { digest: jsonDigest(memberText(example, 'example') ?? 'null'), ref: undefined }
  const ref = isRef(example) ? example : undefined
  const inDataset = /^.+\/attr\/rows\/id\/([^/]+)$/s.exec(example)?.[1]
  const digest = inDataset ?? bytesDigest(ref === undefined ? example : internalRef(ref))
  return { digest, ref }
}
