import type { Compared } from './builtin-rules.ts'

/** A rule of a user with what it is applied to; all of it is plain data. */
export type RuleJob =
  | {
      kind: 'builtin'
      className: string
      fields: unknown
      scored: Compared
    }
  | { kind: 'schema'; schema: object; value: unknown }

/** The result, or the error. */
export type RuleAnswer = { result: unknown } | { error: string }
