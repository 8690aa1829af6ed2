/** ClickHouse SQL with `{name:Type}` placeholders; values never enter the text. */
export interface Query {
  sql: string
  /** A `project_id` among the values is the owner of the read. */
  params: Record<string, unknown>
}

/** A type of ClickHouse that columns in RowBinary have; texts that are `LowCardinality` are written as `String`. */
export type ColumnType = PlainType | `Nullable(${PlainType})`
type PlainType = 'String' | 'UInt8' | 'UInt64' | 'DateTime64(6)'

/** A query whose rows are read in RowBinary, a format without row separators. */
export interface BinaryQuery extends Query {
  /** What the query returns, in order. */
  columns: readonly ColumnType[]
}

/**
 * The trace database: everything that is used of ClickHouse. `clickhouse/` asks a server over HTTP; the adapters are
 * `embedded/`, whose server Heddle starts, and `elsewhere/`, for a server or a cluster that others operate. Date-times
 * go in and come out as ISO 8601 with microseconds and `Z`. While the database does not answer, all methods reject with
 * `StoreFailed`, so that jobs wait for it.
 */
export interface TraceDb extends AsyncDisposable {
  /**
   * Streams rows. The query ends when the iteration ends early, when the signal aborts, or at a time limit. Projects
   * take turns.
   * @throws 400 for a query that asks for too much, 503 when it fails, takes too long, or too many wait.
   */
  query<Row>(query: Query, signal?: AbortSignal): AsyncIterable<Row>
  /** Streams rows in RowBinary, cut anywhere: `wholeRows` makes pieces of whole rows of it. Otherwise like `query`. */
  rowBinary(query: BinaryQuery, signal?: AbortSignal): AsyncIterable<Uint8Array>
  /**
   * Streams the texts of a query's only column, concatenated and cut anywhere: `wholeLines` makes pieces of whole lines
   * of them. Otherwise like `query`.
   */
  text(query: Query, signal?: AbortSignal): AsyncIterable<Buffer>
  /**
   * Streams rows in Native, ClickHouse's own exact format, cut anywhere, for {@link insertNative}. Otherwise like
   * `query`.
   */
  native(query: Query, signal?: AbortSignal): AsyncIterable<Uint8Array>
  /**
   * Inserts rows that `native` has returned with the same columns. Where it fails, some of them may be stored.
   * @throws the database's error for columns that the table does not have; 503 when the database fails
   */
  insertNative(table: string, columns: readonly string[], rows: AsyncIterable<Uint8Array>): Promise<void>
  /**
   * Inserts rows, durable and readable once this resolves. Concurrent inserts are committed together; a row the
   * database refuses fails only the call it came with.
   * @throws 503 when too much is already waiting, and nothing is stored then; or when the disk fails, and some may be.
   */
  insert(table: string, rows: readonly object[]): Promise<void>
  /**
   * Inserts rows that add up with others of their key, in a commit of their own; otherwise like `insert`. Where it
   * fails, some of them may be stored. Repeated with the same rows and token, a cluster stores each once, as long as it
   * remembers the token (an hour, by its defaults), and a database on one machine may store them twice.
   */
  insertOnce(table: string, rows: readonly object[], token: string): Promise<void>
  /** Runs a statement that returns nothing. */
  command(query: Query): Promise<void>
  repairs(): TableRepairs
}

/** Counts of tables that a failing disk broke, since the start. */
export interface TableRepairs {
  /** Tables that were repaired. */
  done: number
  /** Failed attempts; each is repeated. */
  failed: number
  /** Tables that can be neither read nor written until they are repaired. */
  detached: readonly string[]
}

/** Collects a small result. */
export async function rowsOf<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const collected: Row[] = []
  for await (const row of rows) collected.push(row)
  return collected
}

/**
 * The first row, for queries that return one at most. They are read to their end: a query that is left before it keeps
 * its slot among the reads until it has been ended, and until then the next read of its owner has one thread only.
 */
export async function firstOf<Row>(rows: AsyncIterable<Row>): Promise<Row | undefined> {
  const [first] = await rowsOf(rows)
  return first
}

/** Whether a query failed because it needed more than its `max_memory_usage`. */
export function isOutOfMemory(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'type' in cause && cause.type === 'MEMORY_LIMIT_EXCEEDED'
}

/** Resolves when the database answers. */
export async function pingTraceDb(traces: Pick<TraceDb, 'query'>): Promise<void> {
  await firstOf(traces.query({ sql: 'SELECT 1', params: {} }))
}
