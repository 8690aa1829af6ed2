import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
  EXCEPTION_TAG_HEADER_NAME,
} from '@clickhouse/client'
import { inlineValues } from './inlined-values.ts'
import { jsonLines } from './json-lines.ts'
import { untilException } from './reply-exception.ts'

/** Where a ClickHouse server listens, and as whom it is used. */
export interface Endpoint {
  /** With its port, without a path. */
  url: string
  username: string
  password: string
  /** Headers that every request has. */
  headers: Record<string, string>
  /** The user's own where absent. */
  database?: string
  /** What every request runs with, besides the profile of the user. */
  settings?: ClickHouseSettings
  /** Certificates, in PEM, that the server's is signed by; those that Node knows where absent. */
  ca?: string | undefined
  /**
   * Whether what is sent is compressed. Replies are not: the first rows of one would come with the last, and an error
   * after them would be lost in the compressed bytes.
   */
  isCompressed?: boolean
}

/** What a query is run with. */
export interface StreamOptions {
  /** The format of the reply: https://clickhouse.com/docs/interfaces/formats */
  format: string
  /** The id by which the query can be killed. */
  queryId: string
  settings: ClickHouseSettings
}

/** Requests to one ClickHouse server over HTTP. Each rejects with the server's error. */
export interface Connection extends AsyncDisposable {
  /** Collects a small result. */
  rows<Row>(sql: string, params?: Record<string, unknown>): Promise<Row[]>
  /** The reply to a statement that takes no format. */
  reply(sql: string): Promise<string>
  /** Runs a statement that returns nothing. */
  run(sql: string, params?: Record<string, unknown>): Promise<void>
  /** Inserts lines of JSON. Where a table deduplicates, a later insert with the same token is not applied. */
  insert(table: string, lines: readonly Buffer[], token: string): Promise<void>
  /** Inserts rows in Native, read as they are sent. */
  insertNative(table: string, columns: readonly string[], rows: AsyncIterable<Uint8Array>): Promise<void>
  /** Runs a query; resolves with the bytes of its result, cut anywhere, once the first are there. */
  stream(sql: string, params: Record<string, unknown>, options: StreamOptions): Promise<AsyncIterable<Buffer>>
}

/**
 * Requests at once; a further one waits until one of them has ended. Those of readers (`READERS`) take up to a minute.
 * Nearly all others take milliseconds: a table has two commits at once, with a check after each, and few tables are
 * written at the same moment.
 */
const CONNECTIONS_MAX = 32

/** Below the server's own limit, so that no request meets a connection that the server closes. */
const IDLE_MS_MAX = 8_000

/** Longer than any query may take. */
const REQUEST_MS_MAX = 120_000

/**
 * Values with more characters travel in the body: servers accept an address of 1 MiB, in which each byte may take
 * three.
 */
const CHARS_IN_ADDRESS_MAX = 16 * 1024

/** More values as well: servers read 1,000 fields of an address, settings among them. */
const VALUES_IN_ADDRESS_MAX = 500

/** Characters of SQL without its bound values. */
export const QUERY_CHARS_MAX = 2 * 1024 * 1024

/** Opens connections as they are needed. */
export function connect(endpoint: Endpoint): Connection {
  const { url, username, password, headers, database, settings, ca, isCompressed = false } = endpoint
  const client = createClient({
    url,
    username,
    password,
    http_headers: headers,
    ...(database !== undefined && { database }),
    ...(settings !== undefined && { clickhouse_settings: settings }),
    ...(ca !== undefined && { tls: { ca_cert: Buffer.from(ca) } }),
    compression: { request: isCompressed, response: false },
    max_open_connections: CONNECTIONS_MAX,
    request_timeout: REQUEST_MS_MAX,
    keep_alive: { idle_socket_ttl: IDLE_MS_MAX },
    // Errors are thrown as well, and reported where they are caught.
    log: { level: ClickHouseLogLevel.OFF },
  })

  async function stream(
    sql: string,
    params: Record<string, unknown>,
    options: StreamOptions,
  ): Promise<AsyncIterable<Buffer>> {
    const reply = await query(client, sql, params, options)
    const tag = reply.response_headers[EXCEPTION_TAG_HEADER_NAME]
    return untilException(reply.stream, typeof tag === 'string' ? tag : undefined)
  }

  return {
    async rows<Row>(sql: string, params: Record<string, unknown> = {}) {
      const options = { format: 'JSONEachRow', queryId: randomUUID(), settings: {} }
      const pieces: Buffer[] = []
      for await (const piece of await stream(sql, params, options)) pieces.push(piece)
      return jsonLines<Row>(Buffer.concat(pieces).toString())
    },

    async reply(sql) {
      const { stream } = await client.exec({ query: sql })
      return Buffer.concat(await stream.toArray()).toString()
    },

    async run(sql, params = {}) {
      const { query, query_params, size = {} } = withValues(sql, params)
      await client.command({ query, query_params, clickhouse_settings: size })
    },

    async insert(table, lines, token) {
      const values = Readable.from(lines, { objectMode: false })
      const query = `INSERT INTO ${table} FORMAT JSONEachRow`
      const own = { wait_end_of_query: 1, insert_deduplication_token: token } as const
      const { stream } = await client.exec({ query, values, clickhouse_settings: own })
      for await (const _ of stream);
    },

    async insertNative(table, columns, rows) {
      const query = `INSERT INTO ${table} (${columns.join(', ')}) FORMAT Native`
      const { stream } = await client.exec({
        query,
        values: Readable.from(rows, { objectMode: false }),
        clickhouse_settings: { wait_end_of_query: 1 },
      })
      for await (const _ of stream);
    },

    stream,

    [Symbol.asyncDispose]: () => client.close(),
  }
}

function query(
  client: ClickHouseClient,
  sql: string,
  params: Record<string, unknown>,
  { format, queryId, settings }: StreamOptions,
): ReturnType<ClickHouseClient['exec']> {
  const sent = withValues(sql, params)
  return client.exec({
    query_id: queryId,
    query: `${sent.query}\nFORMAT ${format}`,
    query_params: sent.query_params,
    clickhouse_settings: { ...settings, ...sent.size },
  })
}

/**
 * SQL with its values: in the address, or written into it where they are long or many, which it may then be longer for.
 */
function withValues(
  sql: string,
  params: Record<string, unknown>,
): { query: string; query_params: Record<string, unknown>; size?: ClickHouseSettings } {
  const isShort =
    charsOf(params) <= CHARS_IN_ADDRESS_MAX && Object.keys(params).length <= VALUES_IN_ADDRESS_MAX
  if (isShort) return { query: sql, query_params: params }
  const query = inlineValues({ sql, params })
  const bytes = QUERY_CHARS_MAX + Buffer.byteLength(query) - sql.length
  return { query, query_params: {}, size: { max_query_size: String(bytes) } }
}

/** Characters of values as they are sent. */
function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return String(value).length
  return Object.values(value).reduce((sum: number, one: unknown) => sum + charsOf(one), 0)
}
