import type { Cutoff, Removal } from '../../removal.ts'
import type { Blobs } from '../../stores/blobs/port.ts'
import type { Peers } from '../../stores/control-db/peers.ts'
import type { Mutations } from '../../stores/trace-db/mutations.ts'
import { firstOf, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { blobKey } from './blob-owner.ts'
import * as queries from './queries.ts'

/** Files whose bytes are deleted between two changes of the table. */
const FILES_AT_ONCE = 10_000

export interface FilesRemovalDeps {
  traces: TraceDb
  blobs: Blobs
  mutations: Mutations
  peers: Pick<Peers, 'arePossible'>
  /** Whether bytes of this digest are being stored, in any project. */
  isArriving: (digest: string) => boolean
}

/**
 * Bytes that are younger may be those of a file whose row another server is about to write: they are left to the sweep
 * of blobs that nothing owns.
 */
const ARRIVED_MS = 3_600_000

/** Removes files: their bytes first, since the rows name them, so that what is interrupted can be repeated. */
export interface FilesRemoval extends Removal {
  removeContents(
    projectId: string,
    digests: readonly string[],
    before: string,
    signal: AbortSignal,
  ): Promise<void>
}

export function createFilesRemoval(deps: FilesRemovalDeps): FilesRemoval {
  const { traces, blobs, mutations, peers, isArriving } = deps

  async function removeSelected(selection: queries.FileSelection, signal: AbortSignal): Promise<void> {
    for (let after = ''; ; ) {
      signal.throwIfAborted()
      const query = queries.selectDigests(selection, { after, limit: FILES_AT_ONCE })
      const digests = (await rowsOf(traces.query<{ stored_digest: string }>(query))).map(
        (row) => row.stored_digest,
      )
      if (digests.length === 0) break
      for (const digest of digests) {
        signal.throwIfAborted()
        await removeBytes(digest, selection)
      }
      after = digests.at(-1) ?? ''
    }
    const { where, params } = queries.whereOf(selection)
    const found = await firstOf(traces.query<{ count: number }>(queries.countFiles(selection)))
    if (found !== undefined && found.count > 0)
      await mutations.run('files', [`DELETE WHERE ${where}`], params, signal)
  }

  /**
   * Deletes bytes that no other row names. They may be sent again at any moment: bytes that were put again after the
   * first line here stay, and so do those whose row is about to be written.
   */
  async function removeBytes(digest: string, selection: queries.FileSelection): Promise<void> {
    const key = blobKey(digest)
    const found = await blobs.stat(key)
    if (found === undefined || isArriving(digest)) return
    if (peers.arePossible && found.modifiedAt > Date.now() - ARRIVED_MS) return
    const others = await firstOf(traces.query<{ count: number }>(queries.countOthers(digest, selection)))
    if ((others?.count ?? 0) === 0 && !isArriving(digest)) await blobs.deleteUnchanged(key, found.modifiedAt)
  }

  async function expire(cutoffs: readonly Cutoff[], signal: AbortSignal): Promise<void> {
    for (const { projectIds, before } of cutoffs) await removeSelected({ projectIds, before }, signal)
  }

  return {
    async countProjects(projectIds) {
      const row = await firstOf(
        traces.query<{ count: number; bytes: number }>(queries.countFiles({ projectIds })),
      )
      return [{ kind: 'files', count: row?.count ?? 0, bytes: row?.bytes ?? 0 }]
    },
    eraseProjects: (projectIds, signal) => removeSelected({ projectIds }, signal),
    expire: { files: expire },
    removeContents: (projectId, digests, before, signal) =>
      removeSelected({ projectIds: [projectId], digests, before }, signal),
  }
}
