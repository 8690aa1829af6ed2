import { bytesDigest, jsonDigest } from '../digest.ts'
import type { Files } from '../files/service.ts'
import { opValue, placeholderSource, sourceFile } from './op-value.ts'
import type { Objects } from './service.ts'

/** Ops of which only names are known. */
export interface PlaceholderOps {
  refOf(projectId: string, name: string): string
  /** Makes the ops of these names, unless they are there. */
  publish(projectId: string, wanted: Iterable<string>, user: string): Promise<void>
}

/** Up to `seenMax` names are remembered as published, at about 100 bytes each. */
export function createPlaceholderOps(
  { objects, files }: { objects: Objects; files: Files },
  { why, seenMax }: { why: string; seenMax: number },
): PlaceholderOps {
  const file = sourceFile(placeholderSource('op(*args, **kwargs)', why))
  const val = opValue(bytesDigest(file.bytes))
  const digest = jsonDigest(val.text)
  const seen = new Set<string>()

  async function publish(projectId: string, wanted: Iterable<string>, user: string): Promise<void> {
    const names = [...new Set(wanted)].filter((name) => !seen.has(`${projectId}/${name}`))
    if (names.length === 0) return
    await files.create({ project_id: projectId, file })
    await objects.createAll(projectId, { names, val, user })
    if (seen.size + names.length > seenMax) seen.clear()
    for (const name of names) seen.add(`${projectId}/${name}`)
  }

  return { refOf: (projectId, name) => `weave:///${projectId}/op/${name}:${digest}`, publish }
}
