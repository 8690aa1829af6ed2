import { setTimeout as delay } from 'node:timers/promises'
import { messageOf, StoreFailed } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import { type Connection, connect, type Endpoint } from '../clickhouse/connection.ts'
import { isUnanswered, type Server } from '../clickhouse/server.ts'

/** Time between two requests that ask whether the server answers. */
const PING_EVERY_MS = 5_000

/** While it does not answer. */
const PING_AGAIN_MS = 500

/** A server that has much to do still answers such a request within a second. */
const ANSWER_MS_MAX = 5_000

/** Shorter interruptions are waited for: those of a network, or of a balancer that changes its server. */
const AWAY_MS_MIN = 2_000

/** Limits of a watch, for tests. */
export interface WatchOptions {
  pingEveryMs?: number
  answerMsMax?: number
  awayMsMin?: number
}

/**
 * A ClickHouse server elsewhere. While it does not answer, requests are refused at once: they would otherwise each wait
 * for it, and fill the queues after their clients have gone. Those in progress end with its connections.
 */
export function watchServer(
  endpoint: Endpoint,
  log: Pick<Log, 'error' | 'warn'>,
  { pingEveryMs = PING_EVERY_MS, answerMsMax = ANSWER_MS_MAX, awayMsMin = AWAY_MS_MIN }: WatchOptions = {},
): Server {
  const stopping = new AbortController()
  let connection = connect(endpoint)
  /** Of its own, so that requests in progress do not delay it. */
  let looking = connect(endpoint)
  let awaySince: number | undefined
  let isAway = false

  /** Closes a connection; requests on it fail. */
  function closed(old: Connection): Connection {
    void old[Symbol.asyncDispose]()
    return connect(endpoint)
  }

  /** Why the server does not answer; undefined where it does. */
  async function ping(): Promise<string | undefined> {
    const late = Promise.withResolvers<string>()
    const timer = setTimeout(() => late.resolve(`no answer within ${answerMsMax} ms`), answerMsMax)
    const reason = await Promise.race([answers(looking), late.promise])
    clearTimeout(timer)
    if (reason !== undefined) looking = closed(looking)
    return reason
  }

  function note(reason: string | undefined): void {
    if (reason === undefined) {
      if (isAway) log.warn({ url: endpoint.url }, 'the trace database answers again')
      awaySince = undefined
      isAway = false
      return
    }
    awaySince ??= performance.now()
    if (isAway || performance.now() - awaySince < awayMsMin) return
    isAway = true
    log.error({ url: endpoint.url, reason }, 'the trace database does not answer: requests are refused')
    connection = closed(connection)
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const reason = await ping()
      note(reason)
      const pauseMs = reason === undefined ? pingEveryMs : PING_AGAIN_MS
      await delay(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
    }
  }

  const watching = watch()

  return {
    async connection() {
      if (isAway)
        throw new StoreFailed('The trace database does not answer, so nothing was stored', undefined)
      return connection
    },
    repeatsInserts: 'unanswered',
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await Promise.all([connection[Symbol.asyncDispose](), looking[Symbol.asyncDispose]()])
      await watching
    },
  }
}

/** Undefined also for an answer that is an error. */
async function answers(connection: Connection): Promise<string | undefined> {
  try {
    await connection.run('SELECT 1')
    return undefined
  } catch (error) {
    return isUnanswered(error) ? messageOf(error) || 'nothing listens there' : undefined
  }
}
