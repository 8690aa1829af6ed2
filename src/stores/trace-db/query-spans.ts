import { errorTypeOf, type Span, type Telemetry } from '../../telemetry.ts'
import type { Query, TraceDb } from './port.ts'

/** The table that a query reads first. Its text is not reported: it is long, and may have names of fields. */
const TABLE = /\bFROM\s+(?!\()(\w+)/

/** Records what the work in progress asks of a trace database, with the time that it waits for its turn. */
export function withQuerySpans(inner: TraceDb, telemetry: Telemetry): TraceDb {
  if (!telemetry.isOn) return inner

  function spanOf(
    operation: 'SELECT' | 'INSERT' | 'COMMAND',
    table: string | undefined,
    rows?: number,
  ): Span {
    return telemetry.child({
      name: table === undefined ? operation : `${operation} ${table}`,
      kind: 'client',
      attributes: {
        'db.system.name': 'clickhouse',
        'db.operation.name': operation,
        'db.collection.name': table,
        'db.operation.batch.size': rows,
      },
    })
  }

  function reading<Row>(query: Query, read: () => AsyncIterable<Row>): AsyncIterable<Row> {
    return {
      [Symbol.asyncIterator]: () => {
        const iterator = read()[Symbol.asyncIterator]()
        return untilEnd(iterator, () => spanOf('SELECT', TABLE.exec(query.sql)?.[1]))
      },
    }
  }

  async function within<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      span.fail(errorTypeOf(error))
      throw error
    } finally {
      span.end()
    }
  }

  return {
    query: <Row>(...args: Parameters<TraceDb['query']>) =>
      reading<Row>(args[0], () => inner.query<Row>(...args)),
    rowBinary: (...args) => reading(args[0], () => inner.rowBinary(...args)),
    text: (...args) => reading(args[0], () => inner.text(...args)),
    native: (...args) => reading(args[0], () => inner.native(...args)),
    insertNative: (table, ...rows) =>
      within(spanOf('INSERT', table), () => inner.insertNative(table, ...rows)),
    insert: (table, rows) => within(spanOf('INSERT', table, rows.length), () => inner.insert(table, rows)),
    insertOnce: (table, rows, token) =>
      within(spanOf('INSERT', table, rows.length), () => inner.insertOnce(table, rows, token)),
    command: (query) => within(spanOf('COMMAND', undefined), () => inner.command(query)),
    repairs: inner.repairs,
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }
}

/** The span begins when the first row is asked for, and ends with the last one or when the reader leaves. */
function untilEnd<Row>(rows: AsyncIterator<Row>, begin: () => Span): AsyncIterator<Row> {
  let span: Span | undefined
  let isOver = false

  function end(): void {
    if (!isOver) span?.end()
    isOver = true
  }

  return {
    async next() {
      span ??= begin()
      try {
        const result = await rows.next()
        if (result.done === true) end()
        return result
      } catch (error) {
        span.fail(errorTypeOf(error))
        end()
        throw error
      }
    },
    async return() {
      end()
      return (await rows.return?.()) ?? { done: true, value: undefined }
    },
  }
}
