import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { repeatedFromNow } from '../../repeated.ts'
import { createListeners, type Peers } from '../control-db/peers.ts'
import type { SecretKey } from '../secret-key.ts'
import { type RedisOptions, readRedisAddress } from './address.ts'
import { type RedisClient, redisClient } from './connection.ts'

/** Between two attempts to connect. */
const RETRY_MS = 500

/** How often the connection is asked whether it lasts, and for how long: a network that drops packets closes none. */
const PING_MS = 3_000
const ANSWER_MS_MAX = 5_000

/** How messages through Redis are sent. */
export interface RedisUse {
  /** Messages take this way while Redis cannot be reached, and changes of tables always. */
  base: Peers
  /** That all servers of the same stores have. */
  secretKey: Pick<SecretKey, 'hash'>
  log: Pick<Log, 'info' | 'warn'>
}

/**
 * Servers that send each other messages through Redis. Where Redis cannot be reached, servers start and work
 * all the same, and connect to it as soon as they can.
 */
export function openRedisPeers(
  options: RedisOptions,
  { base, secretKey, log }: RedisUse,
): Peers & AsyncDisposable {
  const self = newId()
  const channel = channelOf(options, secretKey)
  const listeners = createListeners()
  /** The client that has subscribed and is connected. */
  let connected: RedisClient | undefined
  let isAwayLogged = false

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
      'Redis cannot be used: messages to other servers go through PostgreSQL until it can',
    )
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

  async function look(): Promise<void> {
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

  const looks = repeatedFromNow(PING_MS, look)

  return {
    arePossible: base.arePossible,
    onChange: base.onChange,

    send(topic, text) {
      if (connected === undefined) return base.send(topic, text)
      connected.publish(channel, [topic, self, text].join('\n')).catch(() => base.send(topic, text))
    },

    onMessage(topic, heard) {
      listeners.add(topic, heard)
      base.onMessage(topic, heard)
    },

    async [Symbol.asyncDispose]() {
      if (client.isOpen) client.destroy()
      await looks[Symbol.asyncDispose]()
    },
  }
}

/** Redis passes messages on whatever the number of their database, and may be shared with other installations. */
function channelOf(options: RedisOptions, secretKey: Pick<SecretKey, 'hash'>): string {
  const { database } = readRedisAddress(options)
  return `heddle:${database}:${secretKey.hash('redis channel', '')}`
}
