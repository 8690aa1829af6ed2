import { decodedPart, hostOf } from '../server-address.ts'

/** A Redis server that others operate. */
export interface RedisOptions {
  /** Such as `rediss://user:password@host:6379/0`; with `redis:` without TLS. */
  url: string
  /** Certificates in PEM that the server's is signed by; those that Node knows where absent. */
  ca?: string | undefined
}

/** What `url` says. */
export interface RedisAddress {
  host: string
  port: number
  /** `default` where absent, as in Redis. */
  user: string
  password: string | undefined
  /** Servers of the same number send each other messages. */
  database: number
  isEncrypted: boolean
}

const PORT_DEFAULT = 6379

const USER_DEFAULT = 'default'

/**
 * Reads `redis://user:password@host:6379/0`; the database is 0 where absent.
 * @throws Error that says what is wrong, without the password
 */
export function readRedisAddress({ url: text, ca }: RedisOptions): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw new Error('no address such as rediss://user:password@host:6379/0')
  const database = /^\/?(\d{1,4})?$/.exec(url.pathname)
  if (database === null) throw new Error('after the host, the number of a database')
  if (url.search !== '' || url.hash !== '') throw new Error('an address without ? and #')
  const isEncrypted = url.protocol === 'rediss:'
  if (!isEncrypted && ca !== undefined) throw new Error('certificates are checked with rediss: only')
  return {
    host: hostOf(url),
    port: url.port === '' ? PORT_DEFAULT : Number(url.port),
    user: decodedPart(url.username) || USER_DEFAULT,
    password: decodedPart(url.password) || undefined,
    database: Number(database[1] ?? 0),
    isEncrypted,
  }
}
