import { type CallsRequest, deleteCalls, streamCalls } from '../../api/calls.ts'
import { type Chosen, isChosen } from './chosen.ts'

/** Calls of one request; each may have thousands below it, which go with it. */
const PORTION_CALLS = 100

interface DeleteOptions {
  /** The list that the calls are chosen from. */
  request: Pick<CallsRequest, 'filter' | 'query'>
  chosen: Chosen
  /** As many as a person has agreed to. */
  callsMax: number
  signal: AbortSignal
  onProgress: (deleted: number) => void
}

/**
 * Deletes chosen calls in portions. @returns how many
 * @throws ApiError when one fails, and Error before a portion that would exceed `callsMax`; those before stay deleted
 */
export async function deleteChosen(project: string, options: DeleteOptions): Promise<number> {
  const { signal, onProgress, chosen, callsMax } = options
  let deleted = 0
  for await (const ids of chosen.kind === 'these' ? named(chosen) : matching(project, options)) {
    signal.throwIfAborted()
    if (deleted + ids.length > callsMax) throw new Error('More calls match by now than were to be deleted')
    await deleteCalls(project, ids)
    deleted += ids.length
    onProgress(deleted)
  }
  return deleted
}

function* named({ ids }: Chosen): Generator<string[]> {
  const all = [...ids]
  for (let first = 0; first < all.length; first += PORTION_CALLS)
    yield all.slice(first, first + PORTION_CALLS)
}

/** Deleted calls are no longer listed, so the next batch begins after those that stay. */
async function* matching(
  project: string,
  { request, chosen, signal }: DeleteOptions,
): AsyncGenerator<string[]> {
  const { filter, query } = request
  // In the order of time, in which what arrives meanwhile comes last.
  const sort_by = [{ field: 'started_at', direction: 'asc' as const }]
  let gone = new Set<string>()
  for (let staying = 0; ; ) {
    const page = { filter, query, sort_by, columns: ['id'], offset: staying, limit: PORTION_CALLS }
    const ids: string[] = []
    for await (const { id } of streamCalls(project, page, { signal })) ids.push(id)
    if (ids.length === 0) return
    const going = ids.filter((id) => isChosen(chosen, id))
    staying += ids.length - going.length
    if (going.some((id) => gone.has(id))) throw new Error('A deleted call is still listed')
    gone = new Set(going)
    if (going.length > 0) yield going
  }
}
