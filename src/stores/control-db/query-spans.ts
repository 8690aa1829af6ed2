import type { KyselyConfig } from 'kysely'
import { errorTypeOf, type Telemetry } from '../../telemetry.ts'

type Log = Extract<NonNullable<KyselyConfig['log']>, (...args: never) => unknown>

/** What a statement does and to which table; its values are not in its text, and its text is not reported. */
const STATEMENT =
  /^\s*(?:(select|insert|delete|commit|rollback)\b(?:.*?\b(?:from|into)\s+"?(\w+))?|(update)\s+"?(\w+))/is

/**
 * The setting of Kysely that notes every statement in a span of the work in progress; none where none are recorded,
 * since Kysely would time each statement.
 */
export function querySpans(telemetry: Telemetry, system: 'sqlite' | 'postgresql'): { log?: Log } {
  if (!telemetry.isOn) return {}
  return {
    log: (event) => {
      const [, other, from, update, updated] = STATEMENT.exec(event.query.sql) ?? []
      const verb = other ?? update
      // The beginning of a transaction, and what migrations do.
      if (verb === undefined) return
      const table = from ?? updated
      const operation = verb.toUpperCase()
      const span = telemetry.child({
        name: table === undefined ? operation : `${operation} ${table}`,
        kind: 'client',
        attributes: {
          'db.system.name': system,
          'db.operation.name': operation,
          'db.collection.name': table,
        },
        beganMsAgo: event.queryDurationMillis,
      })
      if (event.level === 'error') span.fail(errorTypeOf(event.error))
      span.end()
    },
  }
}
