import type { Requests } from './server.ts'

/**
 * Where the tables are. Code and migrations are written for tables on one machine; a topology makes of their SQL what
 * does the same where there are several.
 */
export interface Topology {
  /** Whether every row is on several machines. */
  isReplicated: boolean
  /** A query. */
  query(sql: string): string
  /**
   * A statement that changes tables or rows, which may become several.
   * @throws Error for one that it has no rule for
   */
  statements(sql: string): readonly string[]
}

/** All tables on the machine that is asked. */
export const ONE_NODE: Topology = {
  isReplicated: false,
  query: (sql) => sql,
  statements: (sql) => [sql],
}

/** A query within a change of rows that exist: replicated tables refuse it (`keyed-changes.ts`). */
const QUERY_IN_CHANGE = /^\s*(ALTER\s[\s\S]*\b(UPDATE|DELETE)|DELETE FROM)\s[\s\S]*\bSELECT\b/

/**
 * Makes requests as they are in a topology. Changes that a cluster would refuse are refused everywhere, so that each
 * test sees it.
 */
export function requestsIn(topology: Topology, requests: Requests): Requests {
  return {
    rows: (sql, params) => requests.rows(topology.query(sql), params),
    async run(sql, params) {
      if (QUERY_IN_CHANGE.test(sql)) throw new Error(`A change of rows has a query as its condition: ${sql}`)
      for (const statement of topology.statements(sql)) await requests.run(statement, params)
    },
  }
}
