import { createHash } from 'node:crypto'
import { totalmem } from 'node:os'
import { QUERY_SETTINGS } from '../clickhouse/clickhouse.ts'

/** How an embedded server is reached. */
export interface ServerConfig {
  port: number
  user: string
  password: string
  /** The name and value of a header without which the server answers no request. */
  key: { header: string; value: string }
}

/** Leaves the other half to training, inference and the page cache. */
const MEMORY_SHARE_MAX = 0.5

/** Threads for merges: more would take the processors from queries. */
const MERGE_THREADS = 2

/** Bytes of each cache of marks and indexes: those of ten million calls fit. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024

/** Bytes of one value of a form, and of all: above the largest that a query may have. */
const FORM_BYTES_MAX = 64 * 1024 * 1024

/** Values of a form: a query of the largest size has some ten thousand. */
const FIELDS_MAX = 100_000

/** Seconds that an idle connection stays open: longer than clients keep theirs. */
const KEEP_ALIVE_S = 60

/** https://clickhouse.com/docs/operations/server-configuration-parameters/settings */
export function serverXml({ port, key }: ServerConfig, usersFile: string): string {
  return element('clickhouse', {
    listen_host: '127.0.0.1',
    http_port: port,
    users_config: usersFile,
    keep_alive_timeout: KEEP_ALIVE_S,
    max_server_memory_usage: Math.round(totalmem() * MEMORY_SHARE_MAX),
    mark_cache_size: CACHE_BYTES_MAX,
    index_mark_cache_size: CACHE_BYTES_MAX,
    primary_index_cache_size: CACHE_BYTES_MAX,
    background_pool_size: MERGE_THREADS,
    // Replaces the default handlers, which would answer user `default`.
    http_handlers: {
      rule: {
        headers: { [key.header]: key.value },
        handler: { type: 'dynamic_query_handler', query_param_name: 'query' },
      },
    },
  })
}

/**
 * https://clickhouse.com/docs/operations/settings/settings-users. The library starts the server as user `default`, who
 * can have no password and no network: it may start the listener and wait, nothing else.
 */
export function usersXml({ user, password }: ServerConfig): string {
  const everywhere = { networks: { ip: '::/0' }, quota: 'default' }
  return element('clickhouse', {
    profiles: {
      // Forms are read before it is known whose they are.
      default: {
        http_max_field_value_size: FORM_BYTES_MAX,
        http_max_multipart_form_data_size: FORM_BYTES_MAX,
        http_max_uri_size: FORM_BYTES_MAX,
        http_max_fields: FIELDS_MAX,
      },
      heddle: QUERY_SETTINGS,
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
        password_sha256_hex: createHash('sha256').update(password).digest('hex'),
        ...everywhere,
        profile: 'heddle',
        access_management: 1,
      },
    },
  })
}

type Content = string | number | readonly string[] | { readonly [name: string]: Content }

/** XML of names and values that need no escapes. */
function element(name: string, content: Content): string {
  if (Array.isArray(content)) return content.map((one: string) => element(name, one)).join('')
  const inner =
    typeof content === 'object'
      ? Object.entries(content)
          .map(([child, value]) => element(child, value))
          .join('\n')
      : content
  return `<${name}>${inner}</${name}>`
}
