/** ClickHouse SQL with `{name:Type}` placeholders; values never enter the text. */
export interface Query {
  sql: string
  /** A text `project_id` says whose turn a read takes. */
  params: Record<string, unknown>
}

/**
 * Everything we ask of ClickHouse. Adapters: chdb.ts (in process).
 * Date-times go in and come out as ISO 8601 with microseconds and `Z`.
 */
export interface TraceDb extends AsyncDisposable {
  /**
   * Streams rows. Ending the iteration early, or the signal, ends the query, and so does a limit of time. Projects take turns.
   * @throws 400 for a query that asks for too much, 503 when it fails, takes too long, or too many wait.
   */
  query<Row>(query: Query, signal?: AbortSignal): AsyncIterable<Row>
  /** Streams rows as `readRowBinary` reads them, in pieces of whole rows. Otherwise like `query`. */
  rowBinary(query: Query, signal?: AbortSignal): AsyncIterable<Uint8Array>
  /** Streams what is in a query's only column, texts after one another, in pieces of whole rows. Otherwise like `query`. */
  text(query: Query, signal?: AbortSignal): AsyncIterable<Buffer>
  /**
   * Inserts rows, durable and readable once this resolves. Calls that meet are committed together; a row the database
   * refuses fails only the call it came with.
   * @throws 503 when too much is already waiting, and nothing is stored then; or when the disk fails, and some may be.
   */
  insert(table: string, rows: readonly object[]): Promise<void>
  /** Runs a statement that returns nothing. */
  command(query: Query): Promise<void>
  repairs(): TableRepairs
}

/** What became of tables that a failing disk broke, since the start. */
export interface TableRepairs {
  /** Tables that were repaired. */
  done: number
  /** Attempts that failed; each is made again. */
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

/** The first row, for queries that return one at most. */
export async function firstOf<Row>(rows: AsyncIterable<Row>): Promise<Row | undefined> {
  for await (const row of rows) return row
  return undefined
}

/** Whether a query failed because it needed more than its `max_memory_usage`. */
export function isOutOfMemory(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && cause.message.includes('MEMORY_LIMIT_EXCEEDED')
}
