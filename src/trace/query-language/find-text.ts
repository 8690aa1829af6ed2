/** SQL that is true where one text contains another, both given as SQL. */
export type Find = (text: string, substr: string) => string

export const contains: Find = (text, substr) => `position(${text}, ${substr}) > 0`

export const containsAnyCase: Find = (text, substr) => `positionCaseInsensitiveUTF8(${text}, ${substr}) > 0`

/**
 * Of a text that {@link lowerCase} has made. To make each searched text lower case takes ClickHouse less time than to
 * compare its letters in both cases.
 */
export const containsLowerCase: Find = (text, substr) => `position(lower(${text}), ${substr}) > 0`

/**
 * A text in lower case; undefined for other literals, and where it has other letters than those of ASCII, which
 * ClickHouse's `lower` leaves as they are.
 */
export function lowerCase(literal: unknown): string | undefined {
  return typeof literal === 'string' && /^[\x20-\x7e]*$/.test(literal) ? literal.toLowerCase() : undefined
}
