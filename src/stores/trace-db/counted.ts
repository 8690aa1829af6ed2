import type { TraceDb } from './port.ts'

/** Rows of one table. Accepted ones are applied, rejected or still pending: there is no other outcome. */
export interface WriteCounts {
  accepted: number
  applied: number
  rejected: number
}

/** A trace database that counts what is written to it. */
export interface CountedTraceDb extends TraceDb {
  /** Since the start, by table. */
  writes(): ReadonlyMap<string, Readonly<WriteCounts>>
  /** When it last answered or stored something, in milliseconds of `performance.now()`. */
  lastAnswerAt(): number
}

/** Counts rows in front of any trace database. */
export function countWrites(inner: TraceDb): CountedTraceDb {
  const tables = new Map<string, WriteCounts>()
  let lastAnswerAt = Number.NEGATIVE_INFINITY

  function countsOf(table: string): WriteCounts {
    let counts = tables.get(table)
    if (counts === undefined) {
      counts = { accepted: 0, applied: 0, rejected: 0 }
      tables.set(table, counts)
    }
    return counts
  }

  async function counting(table: string, rows: readonly object[], work: () => Promise<void>): Promise<void> {
    // It would count as a success of a database that is not asked.
    if (rows.length === 0) return
    const counts = countsOf(table)
    counts.accepted += rows.length
    try {
      await work()
    } catch (error) {
      counts.rejected += rows.length
      throw error
    }
    counts.applied += rows.length
    answered()
  }

  function answered(): void {
    lastAnswerAt = performance.now()
  }

  return {
    query<Row>(...args: Parameters<TraceDb['query']>): AsyncIterable<Row> {
      return { [Symbol.asyncIterator]: () => noticing(inner.query<Row>(...args), answered) }
    },

    rowBinary: (...args) => ({ [Symbol.asyncIterator]: () => noticing(inner.rowBinary(...args), answered) }),

    native: (...args) => ({ [Symbol.asyncIterator]: () => noticing(inner.native(...args), answered) }),

    async insertNative(...args) {
      await inner.insertNative(...args)
      answered()
    },

    text: (...args) => ({ [Symbol.asyncIterator]: () => noticing(inner.text(...args), answered) }),

    insert: (table, rows) => counting(table, rows, () => inner.insert(table, rows)),
    insertOnce: (table, rows, token) => counting(table, rows, () => inner.insertOnce(table, rows, token)),
    command: (query) => inner.command(query),
    repairs: () => inner.repairs(),
    writes: () => tables,
    lastAnswerAt: () => lastAnswerAt,
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }
}

/** Reports each row when the next one is requested, which costs no extra step. */
function noticing<Row>(rows: AsyncIterable<Row>, answered: () => void): AsyncIterator<Row> {
  const iterator = rows[Symbol.asyncIterator]()
  let asked = false
  return {
    next() {
      if (asked) answered()
      asked = true
      return iterator.next()
    },
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  }
}
