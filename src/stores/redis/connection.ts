import { createClient } from '@redis/client'
import { type RedisOptions, readRedisAddress } from './address.ts'

/** For a connection, with its sign-in. */
const CONNECT_MS_MAX = 5_000

/** A connection that is made takes this long at most until it can be used: a network that drops packets closes none. */
const SILENT_MS_MAX = 10_000

/** Messages that Redis has not taken yet. Others go another way. */
const PENDING_MAX = 1_000

export type RedisClient = ReturnType<typeof redisClient>

/** @param retryMs between two attempts to connect; none is made again where absent */
export function redisClient(options: RedisOptions, retryMs?: number) {
  const { host, port, user, password, database, isEncrypted } = readRedisAddress(options)
  const common = {
    host,
    port,
    connectTimeout: CONNECT_MS_MAX,
    socketTimeout: SILENT_MS_MAX,
    reconnectStrategy: retryMs ?? (false as const),
  }
  const client = createClient({
    socket: isEncrypted
      ? { ...common, tls: true, ...(options.ca !== undefined && { ca: options.ca }) }
      : common,
    ...(password !== undefined && { username: user, password }),
    database,
    name: 'heddle',
    // Subscribes and publishes on one connection, which Redis allows from version 6.
    RESP: 3,
    disableOfflineQueue: true,
    commandsQueueMaxLength: PENDING_MAX,
  })
  // Calls that fail say so themselves; the event alone would end the process.
  client.on('error', () => undefined)
  return client
}

/** Looks at a Redis without using it. @throws Error with what is wrong */
export async function checkRedis(options: RedisOptions): Promise<void> {
  const client = redisClient(options)
  try {
    await client.connect()
    await client.subscribe('heddle:check', () => undefined)
  } finally {
    if (client.isOpen) client.destroy()
  }
}
