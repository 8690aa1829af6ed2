import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
  EXCEPTION_TAG_HEADER_NAME,
  extractErrorAtTheEndOfChunk,
} from '@clickhouse/client'
import { jsonLines } from './json-lines.ts'

/** Where a ClickHouse server listens, and as whom it is used. */
export interface Endpoint {
  /** With its port, without a path. */
  url: string
  username: string
  password: string
  /** Headers that every request has. */
  headers: Record<string, string>
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
  /** Runs a statement that returns nothing. */
  run(sql: string, params?: Record<string, unknown>): Promise<void>
  /** Inserts lines of JSON. */
  insert(table: string, lines: string): Promise<void>
  /** Runs a query; resolves with the bytes of its result, cut anywhere, once the first are there. */
  stream(sql: string, params: Record<string, unknown>, options: StreamOptions): Promise<AsyncIterable<Buffer>>
}

/** Requests at once: those of all readers and writers, and some that watch. */
const CONNECTIONS_MAX = 32

/** Below the server's own limit, so that no request meets a connection that the server closes. */
const IDLE_MS_MAX = 8_000

/** Longer than any query may take. */
const REQUEST_MS_MAX = 120_000

/** Values with more characters travel in the body: servers accept an address of 1 MiB, in which each byte may take three. */
const PARAMS_IN_ADDRESS_MAX = 16 * 1024

/** Opens connections as they are needed. */
export function connect({ url, username, password, headers }: Endpoint): Connection {
  const client = createClient({
    url,
    username,
    password,
    http_headers: headers,
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

    async run(sql, params = {}) {
      await client.command({ query: sql, query_params: params })
    },

    async insert(table, lines) {
      const values = Readable.from([Buffer.from(lines)])
      const query = `INSERT INTO ${table} FORMAT JSONEachRow`
      const { stream } = await client.exec({ query, values, clickhouse_settings: { wait_end_of_query: 1 } })
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
  const common = {
    query: `${sql}\nFORMAT ${format}`,
    query_id: queryId,
    clickhouse_settings: settings,
  }
  if (charsOf(params) <= PARAMS_IN_ADDRESS_MAX) return client.exec({ ...common, query_params: params })
  const form = new FormData()
  for (const [name, value] of Object.entries(params)) form.append(`param_${name}`, formatted(value))
  const { body, headers } = new Response(form)
  if (body === null) throw new TypeError('a form has a body')
  return client.exec({
    ...common,
    values: Readable.fromWeb(body),
    http_headers: { 'content-type': headers.get('content-type') ?? '' },
  })
}

/** Characters of the texts among values. */
function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, one: unknown) => sum + charsOf(one), 0)
}

/** A value as the server reads it in a form: https://clickhouse.com/docs/interfaces/http#tabs-in-url-parameters */
function formatted(value: unknown): string {
  if (typeof value === 'string') return escaped(value)
  if (!Array.isArray(value)) return String(value)
  return `[${value.map((one) => (typeof one === 'string' ? `'${escaped(one)}'` : String(one))).join(',')}]`
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', "'": "\\'", '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function escaped(text: string): string {
  return text.replaceAll(/[\\'\t\n\r]/g, (char) => ESCAPES[char] ?? char)
}

/**
 * Passes a reply on. An exception after the first bytes is part of the reply, behind a tag that its headers name, and
 * the connection is closed after it: https://clickhouse.com/docs/interfaces/http#http_response_codes_caveats
 * @throws what the server threw, or what the connection failed with
 */
async function* untilException(reply: Readable, tag: string | undefined): AsyncGenerator<Buffer> {
  const marker = `${EXCEPTION_MARKER}\r\n${tag}`
  let exception: Buffer | undefined
  try {
    for await (const piece of reply as AsyncIterable<Buffer>) {
      const at = exception === undefined && tag !== undefined ? piece.indexOf(marker) : -1
      if (at > 0) yield piece.subarray(0, at)
      if (exception !== undefined || at >= 0) exception = Buffer.concat([exception ?? Buffer.of(), piece])
      else yield piece
    }
  } catch (error) {
    if (exception === undefined || tag === undefined) throw error
  }
  if (exception !== undefined && tag !== undefined) throw extractErrorAtTheEndOfChunk(exception, tag)
}

const EXCEPTION_MARKER = '\r\n__exception__'
