/** A ClickHouse server that others operate. */
export interface ElsewhereOptions {
  /** Such as `https://user:password@host:8443/database`. */
  url: string
  /** Certificates in PEM that the server's is signed by; those that Node knows where absent. */
  ca?: string | undefined
  /** The name of the cluster that the tables are to be spread over; one machine where absent. */
  cluster?: string | undefined
  /** Whether what is sent is compressed. */
  isCompressed?: boolean
}

/** A ClickHouse server and what is used of it. */
export interface Address {
  /** Without user, password and database. */
  url: string
  username: string
  password: string
  database: string
}

const DATABASE_DEFAULT = 'heddle'

/** Names that need no quotes in SQL. */
const DATABASE = /^[A-Za-z_]\w{0,63}$/

const USER_DEFAULT = 'default'

/**
 * Reads `https://user:password@host:8443/database`.
 * @throws Error that says what is wrong, without the password
 */
export function readAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error('no address such as https://user:password@host:8443/database')
  if (url.search !== '' || url.hash !== '') throw new Error('an address without ? and #')
  const database = decodeURIComponent(url.pathname.replaceAll(/^\/|\/$/g, '')) || DATABASE_DEFAULT
  if (!DATABASE.test(database))
    throw new Error(`a database is named with letters, digits and _, not ${database}`)
  return {
    url: url.origin,
    username: decodeURIComponent(url.username) || USER_DEFAULT,
    password: decodeURIComponent(url.password),
    database,
  }
}
