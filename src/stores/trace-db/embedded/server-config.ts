import { createHash } from 'node:crypto'
import { machineBytes } from '../../machine-bytes.ts'
import { QUERY_SETTINGS } from '../clickhouse/clickhouse.ts'
import type { SqlAccess } from './sql-access.ts'

/** How an embedded server is reached. */
export interface ServerConfig {
  port: number
  user: string
  password: string
  /** The name and value of a header without which the server answers no request. */
  key: { header: string; value: string }
  sqlAccess: SqlAccess | undefined
}

/** May select from the tables of the server, and nothing else. */
const READER = 'reader'

/** What a query of the reader may use at most: the rest is for those of the server. */
const READER_LIMITS = {
  max_threads: 1,
  max_memory_usage: 2 * 1024 ** 3,
  max_execution_time: 60,
  max_concurrent_queries_for_user: 4,
}

/** Leaves the other half to training, inference and the page cache. */
const MEMORY_SHARE_MAX = 0.5

/** Threads for merges: more would take the processors from queries. */
const MERGE_THREADS = 2

/** Bytes of each cache of marks and indexes: those of ten million calls fit. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024

/**
 * Bytes of decompressed payloads kept for the next search: those of some 100,000 new calls, which have no index of
 * words yet and are searched most. ClickHouse does not use it for queries of more than a million rows.
 */
const DECOMPRESSED_BYTES_MAX = 128 * 1024 * 1024

/** Seconds that an idle connection stays open: longer than clients keep theirs. */
const KEEP_ALIVE_S = 60

/**
 * Seconds between two looks for parts that were replaced, whose files are then removed: what was erased is on the disk
 * until then. Without a bound, a quiet server checks every five minutes. A merge whose result was not written must be
 * noticed before (`clickhouse/lost-writes.ts` checks every 10 s).
 */
const CLEANUP_S = 30

/**
 * Milliseconds between two looks at the memory in use; the default of 50 takes a quarter of what an idle Heddle does.
 */
const MEMORY_CHECK_MS = 500

/**
 * https://clickhouse.com/docs/operations/server-configuration-parameters/settings
 * @param usersFile its name beside this file: a path may hold characters that XML escapes
 */
export function serverXml({ port, key, sqlAccess }: ServerConfig, usersFile: string): string {
  const handler = { type: 'dynamic_query_handler', query_param_name: 'query' }
  const ruleOf = (headers: Headers): Content => ({ headers, handler })
  return element('clickhouse', {
    listen_host: '127.0.0.1',
    http_port: port,
    users_config: usersFile,
    keep_alive_timeout: KEEP_ALIVE_S,
    max_server_memory_usage: Math.round(machineBytes() * MEMORY_SHARE_MAX),
    mark_cache_size: CACHE_BYTES_MAX,
    index_mark_cache_size: CACHE_BYTES_MAX,
    primary_index_cache_size: CACHE_BYTES_MAX,
    uncompressed_cache_size: DECOMPRESSED_BYTES_MAX,
    memory_worker_period_ms: MEMORY_CHECK_MS,
    background_pool_size: MERGE_THREADS,
    merge_tree: {
      cleanup_delay_period: CLEANUP_S,
      max_cleanup_delay_period: CLEANUP_S,
      cleanup_delay_period_random_add: 0,
    },
    // Replaces the default handlers, which would answer user `default`.
    http_handlers: {
      rule: [{ [key.header]: key.value }, ...(sqlAccess ? readerHeaders(sqlAccess) : [])].map(ruleOf),
    },
  })
}

type Headers = Readonly<Record<string, string>>

/** The ways in which clients name a user and a password; other requests on the port are answered with 404. */
function readerHeaders({ password }: SqlAccess): Headers[] {
  const basic = Buffer.from(`${READER}:${password}`).toString('base64')
  return [{ authorization: `Basic ${basic}` }, { 'x-clickhouse-user': READER, 'x-clickhouse-key': password }]
}

/**
 * https://clickhouse.com/docs/operations/settings/settings-users. The library starts the server as user `default`, who
 * can have no password and no network: it may start the listener and wait, nothing else.
 */
export function usersXml({ user, password, sqlAccess }: ServerConfig): string {
  const everywhere = { networks: { ip: '::/0' }, quota: 'default' }
  return element('clickhouse', {
    profiles: {
      default: '',
      heddle: QUERY_SETTINGS,
      // Readers may change other settings, as many clients do.
      [READER]: { ...READER_LIMITS, readonly: 2, constraints: maximaOf(READER_LIMITS) },
    },
    quotas: { default: '' },
    users: {
      default: {
        password: '',
        ...everywhere,
        profile: 'default',
        grants: { query: ['GRANT SYSTEM LISTEN ON *.*', 'GRANT SELECT ON system.numbers'] },
      },
      [user]: {
        password_sha256_hex: sha256(password),
        ...everywhere,
        profile: 'heddle',
        access_management: 1,
      },
      ...(sqlAccess && {
        [READER]: {
          password_sha256_hex: sha256(sqlAccess.password),
          ...everywhere,
          profile: READER,
          grants: { query: ['GRANT SELECT ON default.*'] },
        },
      }),
    },
  })
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Zero would mean no limit. */
function maximaOf(limits: Readonly<Record<string, number>>): Content {
  return Object.fromEntries(Object.entries(limits).map(([setting, max]) => [setting, { min: 1, max }]))
}

type Content = string | number | readonly Content[] | { readonly [name: string]: Content }

/** XML of names and values that need no escapes. */
function element(name: string, content: Content): string {
  if (Array.isArray(content)) return content.map((one: Content) => element(name, one)).join('\n')
  const inner =
    typeof content === 'object'
      ? Object.entries(content)
          .map(([child, value]) => element(child, value))
          .join('\n')
      : content
  return `<${name}>${inner}</${name}>`
}
