import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import { utf8Text } from '../../utf8-text.ts'
import { FIRST_ISSUE } from '../../wire/lax-parse.ts'
import { asJson, validationFailure } from '../../wire/validation-error.ts'
import { withoutTokens } from './checked-tokens.ts'
import { type MetricSums, sumsOf } from './group-metrics.ts'
import { storedGroup } from './stored-group.ts'
import { TrajectoryGroup } from './wire.ts'

/** A group that was checked. */
export interface CheckedGroup {
  /** As it is stored; undefined where that is as it came. */
  stored: Uint8Array | undefined
  trajectories: number
  exceptions: number
  sums: MetricSums
}

/** @param index its place in the body, for errors @throws ValidationFailure */
export function checkedGroup(bytes: Uint8Array, index: number): CheckedGroup {
  const text = utf8Text(bytes)
  const value = asJson(() => JSON.parse(text) as unknown)
  const group = checked(value, index)
  const stored = storedGroup(text, value)
  return {
    stored: stored === text && isUtf8(bytes) ? undefined : Buffer.from(stored),
    trajectories: group.trajectories.length,
    exceptions: group.exceptions?.length ?? 0,
    sums: sumsOf(group),
  }
}

function checked(value: unknown, index: number): TrajectoryGroup {
  // The text is stored unchanged, so values that would have to be converted are refused.
  const result = TrajectoryGroup.safeParse(withoutTokens(value), FIRST_ISSUE)
  if (result.success) return result.data
  const inBody = result.error.issues.map((issue) => ({
    ...issue,
    path: ['trajectory_groups', index, ...issue.path],
  }))
  // Earlier groups are not in memory, so only this index is filled in for the error's `input`.
  throw validationFailure('body', new z.ZodError(inBody), { trajectory_groups: { [index]: value } })
}
