import { type Expression, sql } from 'kysely'

/** Whether a text contains another, in SQL that both databases support: `like` would need escapes. */
export function contains(text: Expression<string>, part: Expression<string>) {
  return sql<boolean>`replace(${text}, ${part}, '') <> ${text}`
}
