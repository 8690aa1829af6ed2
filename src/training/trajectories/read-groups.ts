import { z } from 'zod'
import { tooLarge } from '../../errors.ts'
import { parseLax } from '../../wire/lax-parse.ts'
import { asJson, validationFailure } from '../../wire/validation-error.ts'
import { checkGroup } from './check-group.ts'
import type { MetricSums } from './group-metrics.ts'
import { createGroupSplitter } from './split-groups.ts'

/** About ten million tokens with their logprobs. */
const BODY_BYTES_MAX = 1024 * 1024 * 1024

/** A group as it is stored, and what its metrics add up to. */
export interface ReadGroup {
  bytes: Uint8Array
  sums: MetricSums
}

/** A body with trajectory groups, read as it arrives. */
export interface GroupsBody<Head> {
  /** Its groups, checked, until the end of the body. @throws 422, 413 or 503; then nothing may be kept. */
  groups(): AsyncGenerator<ReadGroup>
  /** The body's other members, once `groups` has ended. */
  head(): Head
  /** Counts of the groups read so far. */
  counts(): { groups: number; trajectories: number; exceptions: number }
}

/**
 * Checks a user's body group by group, so that memory holds one group at a time.
 * @param onBegin may refuse the body before its first group is given out, by what the client says before its groups
 */
export function readGroups<Head extends z.ZodObject>(
  stream: AsyncIterable<Uint8Array>,
  headSchema: Head,
  user: string,
  onBegin?: (before: unknown) => Promise<void>,
): GroupsBody<z.output<Head>> {
  const splitter = createGroupSplitter()
  const counts = { groups: 0, trajectories: 0, exceptions: 0 }
  let head: z.output<Head> | undefined
  return {
    async *groups() {
      let bytes = 0
      let hasBegun = false
      for await (const chunk of stream) {
        bytes += chunk.byteLength
        if (bytes > BODY_BYTES_MAX)
          throw tooLarge(`Trajectory groups may have ${BODY_BYTES_MAX} bytes at most`)
        const groups = asJson(() => splitter.push(chunk))
        if (groups.length > 0 && !hasBegun) {
          hasBegun = true
          await onBegin?.(asJson(() => JSON.parse(splitter.before() ?? '{}') as unknown))
        }
        for (const group of groups) {
          const { stored, trajectories, exceptions, sums } = await checkGroup(group, counts.groups++, user)
          counts.trajectories += trajectories
          counts.exceptions += exceptions
          yield { bytes: stored ?? group, sums }
        }
      }
      head = checkHead(splitter.head(), headSchema)
    },
    head() {
      if (head === undefined) throw new Error('The body has not been read to its end')
      return head
    },
    counts: () => ({ ...counts }),
  }
}

/** Groups as a blob has them: one a line. */
export async function* asLines(groups: AsyncIterable<ReadGroup>): AsyncGenerator<Uint8Array | string> {
  for await (const { bytes } of groups) {
    yield bytes
    yield '\n'
  }
}

function checkHead<Head extends z.ZodObject>(text: string, schema: Head): z.output<Head> {
  const value = asJson(() => JSON.parse(text) as unknown)
  const rest = parseLax(schema, value)
  if (!rest.success) throw validationFailure('body', rest.error, value)
  const groups = EmptiedGroups.safeParse(value)
  if (!groups.success) throw validationFailure('body', groups.error, value)
  return rest.data
}

/** After all groups were cut out, the body has an empty list. */
const EmptiedGroups = z.object({
  trajectory_groups: z.array(z.never({ error: 'A key of the body is written in an unusual way' })),
})
