import { bytesDigest, jsonDigest } from '../digest.ts'
import type { Files } from '../files/service.ts'
import { OP_SOURCE_FILE, opValue } from '../objects/op-value.ts'
import type { Objects } from '../objects/service.ts'

/** What runs is with the client; the op that clients load says so when it is read. */
const SOURCE = Buffer.from('def op(*args, **kwargs):\n    ...  # logged over HTTP, without source code\n')

const OP = opValue(bytesDigest(SOURCE))
const OP_DIGEST = jsonDigest(OP.text)

/** Wire: the name of an object is at most this long. */
const NAME_CHARS_MAX = 128

/** Names that are remembered as published: enough for the ops of many projects, at about 100 bytes each. */
const SEEN_MAX = 10_000

export type EvaluationOps = ReturnType<typeof createEvaluationOps>

/** The ops of evaluations that clients log step by step. */
export function createEvaluationOps({ objects, files }: { objects: Objects; files: Files }) {
  const seen = new Set<string>()
  return {
    refOf: (projectId: string, name: string): string => `weave:///${projectId}/op/${name}:${OP_DIGEST}`,

    /** Makes the ops of these names, unless they are there. */
    async publish(projectId: string, names: readonly string[], user: string): Promise<void> {
      const missing = names.filter((name) => !seen.has(`${projectId}/${name}`))
      if (missing.length === 0) return
      const file = { name: OP_SOURCE_FILE, type: 'text/x-python', bytes: SOURCE }
      await files.create({ project_id: projectId, file })
      await objects.createAll(projectId, { names: missing, val: OP, user })
      if (seen.size + missing.length > SEEN_MAX) seen.clear()
      for (const name of missing) seen.add(`${projectId}/${name}`)
    },
  }
}

/** The name of what a model or a scorer does: a name that an op can have, whatever the thing is called. */
export function methodName(owner: string, method: string): string {
  const safe = owner.replaceAll(/[^\p{L}\p{N}_.-]/gu, '')
  return `${safe.slice(0, NAME_CHARS_MAX - method.length - 1) || 'Model'}.${method}`
}
