import { serveLimitedWork } from '../../threads/serve-limited-work.ts'
import { type ValidationDetail, ValidationFailure } from '../../wire/validation-error.ts'
import { type CheckedGroup, checkedGroup } from './checked-group.ts'

/** A group to check, and its place in the body. */
export interface GroupToCheck {
  bytes: Uint8Array
  index: number
}

/** The program of the threads that check large groups. */
serveLimitedWork(answerTo)

function answerTo({ bytes, index }: GroupToCheck): CheckedGroup | { invalid: readonly ValidationDetail[] } {
  try {
    return checkedGroup(bytes, index)
  } catch (error) {
    if (error instanceof ValidationFailure) return { invalid: error.detail }
    throw error
  }
}
