import { invalidRequest, tooLarge } from '../errors.ts'

/**
 * Levels of a JSON value. Python's `json` gives up at about as many, and simdjson, with which ClickHouse reads
 * payloads, at 1,024: a deeper value could be stored, but neither searched nor read by its client.
 */
export const JSON_DEPTH_MAX = 1_000

/**
 * Values of a body that are visited one by one, which takes some 2 µs each; a batch of 1,000 calls, as clients send it,
 * has 20,000.
 */
export const JSON_VALUES_MAX = 500_000

/** What an object or a list counts that is kept as text: of those, which are rows of tables, there may be a million. */
export const KEPT_VALUE_WEIGHT = 0.5

/** 400 for a value of more than {@link JSON_DEPTH_MAX} levels. */
export function tooDeep(): Error {
  return invalidRequest(`The body is nested more than ${JSON_DEPTH_MAX} levels deep`)
}

/** 413 for a body of more than {@link JSON_VALUES_MAX} values. */
export function tooManyValues(): Error {
  return tooLarge(`The body has more than ${JSON_VALUES_MAX} values`)
}
