import { z } from 'zod'
import { tooLarge } from '../../errors.ts'
import { jsonInvalid, validationFailure } from '../../http/validation-error.ts'
import { parseLax } from '../../lax-parse.ts'
import { withoutTokens } from './checked-tokens.ts'
import { createGroupSplitter } from './split-groups.ts'
import { storedGroup } from './stored-group.ts'
import { TrajectoryGroup } from './wire.ts'

/** About ten million tokens with their logprobs. */
const BODY_BYTES_MAX = 1024 * 1024 * 1024

/** A body with trajectory groups, read as it arrives. */
export interface GroupsBody<Head> {
  /** One checked group a line, until the end of the body. @throws 422 or 413; then nothing may be kept. */
  lines(): AsyncGenerator<string>
  /** The body's other members, once `lines` has ended. */
  head(): Head
  /** Counts of the groups read so far. */
  counts(): { groups: number; trajectories: number; exceptions: number }
}

/** Checks a body group by group, so that memory holds one group at a time. */
export function readGroups<Head extends z.ZodObject>(
  stream: ReadableStream<Uint8Array>,
  headSchema: Head,
): GroupsBody<z.output<Head>> {
  const splitter = createGroupSplitter()
  const counts = { groups: 0, trajectories: 0, exceptions: 0 }
  let head: z.output<Head> | undefined
  return {
    async *lines() {
      let bytes = 0
      for await (const chunk of stream) {
        bytes += chunk.byteLength
        if (bytes > BODY_BYTES_MAX)
          throw tooLarge(`Trajectory groups may have ${BODY_BYTES_MAX} bytes at most`)
        for (const text of asJson(() => splitter.push(chunk))) {
          const value = asJson(() => JSON.parse(text) as unknown)
          const group = checkGroup(value, counts.groups++)
          counts.trajectories += group.trajectories.length
          counts.exceptions += group.exceptions?.length ?? 0
          yield `${storedGroup(text, value)}\n`
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

function checkGroup(value: unknown, index: number): TrajectoryGroup {
  // The text is stored unchanged, so values that would have to be converted are refused.
  const checked = TrajectoryGroup.safeParse(withoutTokens(value))
  if (checked.success) return checked.data
  const inBody = checked.error.issues.map((issue) => ({
    ...issue,
    path: ['trajectory_groups', index, ...issue.path],
  }))
  // Earlier groups are not in memory, so only this index is filled in for the error's `input`.
  throw validationFailure('body', new z.ZodError(inBody), { trajectory_groups: { [index]: value } })
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

function asJson<Result>(parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    throw error instanceof SyntaxError ? jsonInvalid(error) : error
  }
}
