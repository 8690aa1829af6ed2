import { bytesDigest, jsonDigest } from '../digest.ts'
import type { Files } from '../files/service.ts'
import { OP_SOURCE_FILE, opValue } from '../objects/op-value.ts'
import { safeName } from '../objects/safe-name.ts'
import type { Objects } from '../objects/service.ts'

/** Of spans only the names of their functions are known; the op that clients load says so when it is read. */
const SOURCE = Buffer.from(
  'def op(*args, **kwargs):\n    ...  # traced with OpenTelemetry, which captures no code\n',
)

const OP = opValue(bytesDigest(SOURCE))
const OP_DIGEST = jsonDigest(OP.text)

/** Wire: the name of an object is at most this long. */
const NAME_CHARS_MAX = 128

/** Names that are remembered as published: enough for the ops of many projects, at about 100 bytes each. */
const SEEN_MAX = 100_000

/** Wire: the op of a span is an object named like the span. */
export function createSpanOps({ objects, files }: { objects: Objects; files: Files }) {
  const seen = new Set<string>()

  return {
    refOf: (projectId: string, spanName: string): string =>
      `weave:///${projectId}/op/${objectNameOf(spanName)}:${OP_DIGEST}`,

    /** Makes the ops of spans with these names, unless they are there. */
    async publish(projectId: string, spanNames: Iterable<string>, user: string): Promise<void> {
      const wanted = new Set([...spanNames].map(objectNameOf))
      const names = [...wanted].filter((name) => !seen.has(`${projectId}/${name}`))
      if (names.length === 0) return
      await files.create({
        project_id: projectId,
        file: { name: OP_SOURCE_FILE, type: 'text/x-python', bytes: SOURCE },
      })
      await objects.createAll(projectId, { names, val: OP, user })
      if (seen.size + names.length > SEEN_MAX) seen.clear()
      for (const name of names) seen.add(`${projectId}/${name}`)
    },
  }
}

function objectNameOf(spanName: string): string {
  return safeName(spanName).slice(0, NAME_CHARS_MAX) || 'unknown'
}
