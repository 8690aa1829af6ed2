import type { Requests } from './server.ts'

/**
 * Where the tables are. Code and migrations are written for tables on one machine; a topology makes of their SQL what does
 * the same where there are several.
 */
export interface Topology {
  /** Whether every row is on several machines. */
  isReplicated: boolean
  /** A query. */
  query(sql: string): string
  /** A statement that changes tables or rows, which may become several. @throws Error for one that it has no rule for */
  statements(sql: string): readonly string[]
}

/** All tables on the machine that is asked. */
export const ONE_NODE: Topology = {
  isReplicated: false,
  query: (sql) => sql,
  statements: (sql) => [sql],
}

/** Makes requests as they are in a topology. */
export function requestsIn(topology: Topology, requests: Requests): Requests {
  return {
    rows: (sql, params) => requests.rows(topology.query(sql), params),
    async run(sql, params) {
      for (const statement of topology.statements(sql)) await requests.run(statement, params)
    },
  }
}
