import { ONE_NODE, type Topology } from '../clickhouse/topology.ts'

/** Inserts that a table remembers; an insert is repeated within seconds. */
const REMEMBERED = 1_000

/**
 * Tables on one machine, whose inserts are repeated when their answer was lost. Where rows of one key replace each
 * other that changes nothing. Where they add up, the table has to remember its inserts: not the others, since
 * ClickHouse (26.7) notes an insert before its rows are in place, and one that is repeated after a crash in between
 * would be lost.
 */
export const ONE_NODE_ELSEWHERE: Topology = {
  ...ONE_NODE,
  statements: (sql) => [
    sql.replace(
      /(ENGINE = SummingMergeTree[\s\S]*\bSETTINGS )/,
      `$1non_replicated_deduplication_window = ${REMEMBERED}, `,
    ),
  ],
}
