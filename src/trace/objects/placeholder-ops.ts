import { LRUCache } from 'lru-cache'
import type { Peers } from '../../stores/control-db/peers.ts'
import { bytesDigest, jsonDigest } from '../digest.ts'
import type { Files } from '../files/service.ts'
import { opValue, placeholderSource, sourceFile } from './op-value.ts'
import type { Objects } from './service.ts'

/** Where another server may delete an op, which this one does not hear of. */
const REMEMBERED_MS = 10_000

/** Ops of which only names are known. */
export interface PlaceholderOps {
  refOf(projectId: string, name: string): string
  /** Makes the ops of these names, unless they are there. */
  publish(projectId: string, wanted: Iterable<string>, user: string): Promise<void>
}

/** Up to `seenMax` names are remembered as published, at about 200 bytes each. */
export function createPlaceholderOps(
  { objects, files, peers }: { objects: Objects; files: Files; peers: Pick<Peers, 'arePossible'> },
  { why, seenMax }: { why: string; seenMax: number },
): PlaceholderOps {
  const file = sourceFile(placeholderSource('op(*args, **kwargs)', why))
  const val = opValue(bytesDigest(file.bytes))
  const digest = jsonDigest(val.text)
  /** The project of each op that is there, by `project/name`. */
  const seen = new LRUCache<string, string>({ max: seenMax, ttl: peers.arePossible ? REMEMBERED_MS : 0 })
  objects.watchChanges(({ project_id, kind }) => {
    if (kind === 'published') return
    for (const [op, projectId] of seen.entries()) if (projectId === project_id) seen.delete(op)
  })

  async function publish(projectId: string, wanted: Iterable<string>, user: string): Promise<void> {
    const names = [...new Set(wanted)].filter((name) => !seen.has(`${projectId}/${name}`))
    if (names.length === 0) return
    await files.create({ project_id: projectId, file })
    await objects.createAll(projectId, { names, val, user })
    for (const name of names) seen.set(`${projectId}/${name}`, projectId)
  }

  return { refOf: (projectId, name) => `weave:///${projectId}/op/${name}:${digest}`, publish }
}
