import { ClientError } from '../errors.ts'
import { ValidationFailure } from '../wire/validation-error.ts'

/** Statuses that refuse an item for what it says: it is malformed, or names what is not there. */
const OF_CONTENT: readonly number[] = [400, 404]

/**
 * The error of a batch of which one item cannot be taken: 422 with the index of that item where it is the item's fault,
 * and otherwise the error itself. Wire: on 422 clients send the halves of a batch again, so that only the item is lost;
 * on 400 they drop the whole batch.
 */
export function invalidItem(index: number, error: unknown): unknown {
  if (!(error instanceof ClientError) || !OF_CONTENT.includes(error.status)) return error
  const loc = ['body', 'batch', String(index)]
  return new ValidationFailure([{ type: 'value_error', loc, msg: error.message, input: null }])
}
