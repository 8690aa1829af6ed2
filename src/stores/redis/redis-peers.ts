import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { repeated, repeatedFromNow } from '../../repeated.ts'
import { createListeners, type Peers } from '../control-db/peers.ts'
import type { SecretKey } from '../secret-key.ts'
import { type RedisOptions, readRedisAddress } from './address.ts'
import { type RedisClient, redisClient } from './connection.ts'

/** Between two attempts to connect. */
const RETRY_MS = 500

/** How often the connection is asked whether it lasts, and for how long: a network that drops packets closes none. */
const PING_MS = 3_000
const ANSWER_MS_MAX = 5_000

/**
 * How often a server without Redis says so, and how long others believe it, so that one lost notice changes nothing.
 */
const AWAY_SAID_MS = 2_000
const AWAY_BELIEVED_MS = 3 * AWAY_SAID_MS

/** How messages through Redis are sent. */
export interface RedisUse {
  /** Messages take this way while any server cannot reach Redis, and changes of tables always. */
  base: Peers
  /** That all servers of the same stores have. */
  secretKey: Pick<SecretKey, 'hash'>
  log: Pick<Log, 'info' | 'warn'>
}

/**
 * Servers that send each other messages through Redis. Where Redis cannot be reached, servers start and work all the
 * same, and connect to it as soon as they can. One that cannot reach it hears only what is sent through the base, so it
 * says so there, and all send that way until it can.
 */
export function openRedisPeers(
  options: RedisOptions,
  { base, secretKey, log }: RedisUse,
): Peers & AsyncDisposable {
  const { self } = base
  const channel = channelOf(options, secretKey)
  const listeners = createListeners()
  /** The client that has subscribed and is connected. */
  let connected: RedisClient | undefined
  let isAwayLogged = false
  /** Until then, another server is taken to have no Redis. */
  let isOneAwayUntil = 0

  base.onMessage('without_redis', (text) => {
    if (text !== undefined) isOneAwayUntil = performance.now() + AWAY_BELIEVED_MS
  })

  function received(message: string): void {
    const [topic = '', from = '', ...text] = message.split('\n')
    if (from !== self) listeners.pass(topic, text.join('\n'), from)
  }

  function away(error: unknown): void {
    connected = undefined
    if (isAwayLogged) return
    isAwayLogged = true
    log.warn(
      { reason: messageOf(error) },
      'Redis cannot be used: messages of all servers go through PostgreSQL until it can',
    )
    base.send('without_redis', '')
  }

  function open(): RedisClient {
    const opened = redisClient(options, RETRY_MS)
    let subscribed: Promise<void> | undefined
    opened.on('error', away)
    opened.on('ready', () => {
      // The client subscribes again by itself after a connection has broken.
      subscribed ??= opened.subscribe(channel, received)
      subscribed.then(
        () => {
          if (opened !== client || !opened.isReady) return
          connected = opened
          isAwayLogged = false
          log.info({}, 'messages to other servers go through Redis')
          listeners.missed()
        },
        (error: unknown) => {
          subscribed = undefined
          away(error)
        },
      )
    })
    opened.connect().catch(() => undefined)
    return opened
  }

  let client = open()

  async function check(): Promise<void> {
    const asked = connected
    if (asked === undefined) return
    const answered = asked.ping().then(
      () => true,
      () => true,
    )
    if (await Promise.race([answered, delay(ANSWER_MS_MAX, false, { ref: false })])) return
    away(new Error(`no answer within ${ANSWER_MS_MAX / 1000} s`))
    asked.destroy()
    client = open()
  }

  const checks = repeatedFromNow(PING_MS, check)
  const notices = repeated(AWAY_SAID_MS, async () => {
    if (connected === undefined) base.send('without_redis', '')
  })

  return {
    arePossible: base.arePossible,
    self,
    onChange: base.onChange,

    send(topic, text) {
      if (connected === undefined || performance.now() < isOneAwayUntil) return base.send(topic, text)
      connected.publish(channel, [topic, self, text].join('\n')).catch(() => base.send(topic, text))
    },

    onMessage(topic, heard) {
      listeners.add(topic, heard)
      base.onMessage(topic, heard)
    },

    async [Symbol.asyncDispose]() {
      await notices[Symbol.asyncDispose]()
      if (client.isOpen) client.destroy()
      await checks[Symbol.asyncDispose]()
    },
  }
}

/** Redis passes messages on whatever the number of their database, and may be shared with other installations. */
function channelOf(options: RedisOptions, secretKey: Pick<SecretKey, 'hash'>): string {
  const { database } = readRedisAddress(options)
  return `heddle:${database}:${secretKey.hash('redis channel', '')}`
}
