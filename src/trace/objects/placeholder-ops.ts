import { bytesDigest, jsonDigest } from '../digest.ts'
import type { Files } from '../files/service.ts'
import { opValue, placeholderSource, sourceFile } from './op-value.ts'
import type { Objects } from './service.ts'

export type PlaceholderOps = ReturnType<typeof createPlaceholderOps>

/** Ops of which only names are known; up to `seenMax` names are remembered as published, at about 100 bytes each. */
export function createPlaceholderOps(
  { objects, files }: { objects: Objects; files: Files },
  { why, seenMax }: { why: string; seenMax: number },
) {
  const file = sourceFile(placeholderSource('op(*args, **kwargs)', why))
  const val = opValue(bytesDigest(file.bytes))
  const digest = jsonDigest(val.text)
  const seen = new Set<string>()

  return {
    refOf: (projectId: string, name: string): string => `weave:///${projectId}/op/${name}:${digest}`,

    /** Makes the ops of these names, unless they are there. */
    async publish(projectId: string, wanted: Iterable<string>, user: string): Promise<void> {
      const names = [...new Set(wanted)].filter((name) => !seen.has(`${projectId}/${name}`))
      if (names.length === 0) return
      await files.create({ project_id: projectId, file })
      await objects.createAll(projectId, { names, val, user })
      if (seen.size + names.length > seenMax) seen.clear()
      for (const name of names) seen.add(`${projectId}/${name}`)
    },
  }
}
