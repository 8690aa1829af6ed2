import { countJsonValues } from '../../json/count-json-values.ts'
import { createLimitedWork } from '../../threads/limited-work.ts'
import { type ValidationDetail, ValidationFailure } from '../../wire/validation-error.ts'
import type { GroupToCheck } from './check-group-worker.ts'
import { type CheckedGroup, checkedGroup } from './checked-group.ts'

/** Of a group that is checked on the thread that serves, in some 3 ms, and 20 ms where most of it are messages. */
const BYTES_HERE_MAX = 256 * 1024
const VALUES_HERE_MAX = 2_000

const check = createLimitedWork<GroupToCheck, CheckedGroup | { invalid: readonly ValidationDetail[] }>({
  program: new URL('./check-group-worker.ts', import.meta.url),
  does: 'check a trajectory group',
  // The largest group of sampled tokens takes some 2 s, of empty lists 9 s and all of the memory.
  msMax: 30_000,
  memoryMbMax: 2048,
})

/**
 * Checks a group of a user's body, in a thread where that may take long.
 * @throws 422, 413 for one that takes too long or too much memory, 503 without a thread
 */
export async function checkGroup(bytes: Uint8Array, index: number, user: string): Promise<CheckedGroup> {
  const isSmall =
    bytes.byteLength <= BYTES_HERE_MAX && countJsonValues(bytes, VALUES_HERE_MAX) <= VALUES_HERE_MAX
  if (isSmall) return checkedGroup(bytes, index)
  const answer = await check(user, { bytes, index })
  if ('invalid' in answer) throw new ValidationFailure(answer.invalid)
  return answer
}
