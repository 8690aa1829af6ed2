import { Validator } from '@cfworker/json-schema'
import { invalidRequest, messageOf } from '../errors.ts'

/**
 * Whether a value conforms to a JSON schema. Schemas are walked as a whole, which takes long where they are large.
 * @throws 400 that begins with `what` for what is not a schema.
 */
export function conforms(value: unknown, schema: object, what: string): boolean {
  try {
    return new Validator({ ...schema }, '2020-12').validate(value).valid
  } catch (error) {
    throw invalidRequest(`${what} is not a JSON schema: ${messageOf(error)}`)
  }
}
