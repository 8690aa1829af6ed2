import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type { Log } from '../../../log.ts'
import { type QueryLimits, queryLimits } from '../../../query-limits.ts'
import type { Query } from '../port.ts'
import type { Pauses } from './pauses.ts'
import { readError, tookTooLong } from './read-errors.ts'
import { createReadTurns, type Taken } from './read-turns.ts'
import { type Requests, request, type Server } from './server.ts'

/** Queries that may stream at once; further ones wait. */
export const READERS = 6

/** A query whose reader has left often ends by itself soon: only one that continues for longer is killed. */
const ENDS_SOON_MS = 20

/** A query checks whether it was killed between two blocks of rows, and a kill may have to be repeated. */
const KILL_AGAIN_MS = 1_000

/** A cancellation that takes longer is logged. */
const SLOW_END_MS = 10_000

export interface ReadsDeps {
  server: Server
  requests: Requests
  log: Pick<Log, 'warn'>
  /** A query that takes longer is ended, at the latest a block of rows later. */
  readMsMax: number
  pauses: Pauses
  /** What a query runs with besides. */
  settings: (sql: string) => Record<string, number>
  /** Called when a query fails by itself. */
  onFailure: () => void
}

/** Streams the results of queries; `project_id` of their parameters is their owner. */
export interface Reads {
  /**
   * Streams what a query returns, in a format. Ending the iteration early, or the signal, ends the query.
   * @throws 400 for a query that asks for too much; 503 when it fails, takes too long, or its turn does not come.
   */
  stream(query: Query, format: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer>
  /** Waits for queries that are being ended. */
  close(): Promise<void>
}

/** A query that runs. */
interface Running {
  /** The id of the last attempt at it; undefined before the first. */
  queryId: () => string | undefined
  rest: AsyncIterator<Buffer>
}

function settingsOf(
  threads: Taken<number>['threads'],
  limits: QueryLimits | undefined,
): { max_threads?: number; max_rows_to_read?: string } {
  const rowsMax = limits?.rowsMax ?? Number.POSITIVE_INFINITY
  return {
    ...(threads === 'one' && { max_threads: 1 }),
    ...(rowsMax !== Number.POSITIVE_INFINITY && { max_rows_to_read: String(rowsMax) }),
  }
}

export function createReads({
  server,
  requests,
  log,
  readMsMax,
  pauses,
  settings,
  onFailure,
}: ReadsDeps): Reads {
  const turns = createReadTurns(
    Array.from({ length: READERS }, (_, reader) => reader),
    availableParallelism(),
    pauses,
  )
  const ending = new Set<Promise<void>>()

  function kill({ queryId }: Pick<Running, 'queryId'>): void {
    const id = queryId()
    if (id === undefined) return
    requests
      .run('KILL QUERY WHERE query_id = {id:String} ASYNC', { id })
      .catch((error: unknown) => log.warn({ err: error }, 'a query could not be killed'))
  }

  /** Ends a query whose reader has left: closing its connection would end it only with its next block of rows. */
  async function end(running: Running): Promise<void> {
    const started = performance.now()
    let timer = setTimeout(killAgain, ENDS_SOON_MS)
    function killAgain(): void {
      kill(running)
      timer = setTimeout(killAgain, KILL_AGAIN_MS)
    }
    try {
      while (!(await running.rest.next()).done);
    } catch {
      // It was killed, or failed by itself after its reader had left.
    } finally {
      clearTimeout(timer)
    }
    const ms = Math.round(performance.now() - started)
    if (ms > SLOW_END_MS) log.warn({ ms }, 'a query went on for long after it was killed')
  }

  function endLater(owner: string, reader: number, query: Running): void {
    const ended = end(query).finally(() => {
      ending.delete(ended)
      turns.give(owner, reader)
    })
    ending.add(ended)
  }

  async function* stream(
    query: Query,
    format: string,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Buffer> {
    const owner = ownerOf(query)
    const { slot: reader, threads } = await turns.take(owner, signal)
    const limits = queryLimits()
    using stop = stopBy(
      signal,
      limits !== undefined && limits.msMax < readMsMax ? limits : { msMax: readMsMax },
    )
    let running: Running | undefined
    try {
      const own = { ...settings(query.sql), ...settingsOf(threads, limits) }
      let attempted: string | undefined
      const queryId = (): string | undefined => attempted
      const rows = request(server, 'unanswered', (connection) => {
        // The reply to an attempt may be lost while the server goes on with it.
        kill({ queryId })
        attempted = randomUUID()
        return connection.stream(query.sql, query.params, { format, queryId: attempted, settings: own })
      })
      const rest = iterate(rows)
      running = { queryId, rest }
      for (;;) {
        const next = await stop.before(rest.next())
        if (next.done) running = undefined
        if (next.done) return
        yield next.value
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (stop.isStopped()) throw error
      running = undefined
      onFailure()
      throw readError(error, limits)
    } finally {
      if (running === undefined) turns.give(owner, reader)
      else endLater(owner, reader, running)
    }
  }

  async function close(): Promise<void> {
    await Promise.all(ending)
  }

  return { stream, close }
}

/** A promise of rows as an iterator, which can be left before they are there. */
async function* iterate(rows: Promise<AsyncIterable<Buffer>>): AsyncGenerator<Buffer> {
  yield* await rows
}

/** The owner of a read: its project, where it has one. */
function ownerOf({ params }: Query): string {
  const { project_id } = params
  return typeof project_id === 'string' ? project_id : ''
}

/** Waits for work until the signal or a time limit ends the waiting. */
function stopBy(signal: AbortSignal | undefined, limits: Pick<QueryLimits, 'msMax'> & Partial<QueryLimits>) {
  let stopped: { reason: unknown } | undefined
  /**
   * Rejects what is waited for. A promise that is raced with one that lasts would be kept with its result until that
   * one ends.
   */
  let giveUp: ((reason: unknown) => void) | undefined

  function stop(reason: unknown): void {
    stopped ??= { reason }
    giveUp?.(reason)
  }
  const gone = (): void => stop(signal?.reason)
  const timer = setTimeout(() => stop(tookTooLong(limits)), limits.msMax)
  signal?.addEventListener('abort', gone, { once: true })
  return {
    isStopped: () => stopped !== undefined,
    before: <Result>(work: Promise<Result>): Promise<Result> =>
      new Promise((resolve, reject) => {
        work.then(resolve, reject)
        giveUp = reject
        if (stopped !== undefined) reject(stopped.reason)
      }),
    [Symbol.dispose](): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', gone)
    },
  }
}
