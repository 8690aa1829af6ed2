import { decodedPart, hostOf } from '../server-address.ts'

/** A PostgreSQL server that others operate. */
export interface PostgresOptions {
  /** Such as `postgres://user:password@host:5432/database?sslmode=verify-full`. */
  url: string
  /** Certificates in PEM that the server's is signed by; those that Node knows where absent. */
  ca?: string | undefined
}

/** What `url` says. */
export interface PostgresAddress {
  host: string
  port: number
  user: string
  password: string
  database: string
  /**
   * `disable` is without TLS, `require` encrypts and takes every certificate, `verify-full` checks that it is signed
   * and the host's.
   */
  tls: 'disable' | 'require' | 'verify-full'
}

const PORT_DEFAULT = 5432

const NAME_DEFAULT = 'heddle'

const TLS_MODES = ['disable', 'require', 'verify-full'] as const

/**
 * Reads `postgres://user:password@host:5432/database`; user and database are `heddle` where absent.
 * @throws Error that says what is wrong, without the password
 */
export function readPostgresAddress({ url: text, ca }: PostgresOptions): PostgresAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol) || url.hostname === '')
    throw new Error('no address such as postgres://user:password@host:5432/database')
  const other = [...url.searchParams.keys()].find((name) => name !== 'sslmode')
  if (other !== undefined || url.hash !== '')
    throw new Error(`an address without ${other ?? '#'}: only sslmode may follow the ?`)
  const mode = url.searchParams.get('sslmode') ?? (ca === undefined ? 'disable' : 'verify-full')
  const tls = TLS_MODES.find((known) => known === mode)
  if (tls === undefined) throw new Error(`sslmode is one of ${TLS_MODES.join(', ')}, not ${mode}`)
  if (tls !== 'verify-full' && ca !== undefined)
    throw new Error('certificates are checked with sslmode=verify-full only')
  return {
    host: hostOf(url),
    port: url.port === '' ? PORT_DEFAULT : Number(url.port),
    user: decodedPart(url.username) || NAME_DEFAULT,
    password: decodedPart(url.password),
    database: decodedPart(url.pathname.slice(1)) || NAME_DEFAULT,
    tls,
  }
}

/** An address for people; without a password. */
export function placeOfPostgres(options: PostgresOptions): string {
  const { host, port, database } = readPostgresAddress(options)
  return `postgres://${host.includes(':') ? `[${host}]` : host}:${port}/${database}`
}
