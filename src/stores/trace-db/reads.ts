import { availableParallelism } from 'node:os'
import type { Session, StreamChunk } from 'chdb'
import type { Log } from '../../log.ts'
import { createLoopTurns } from '../../loop-turns.ts'
import type { Query } from './port.ts'
import { readError, tookTooLong } from './read-errors.ts'
import { createReadTurns, type Taken } from './read-turns.ts'

/** Queries that may stream at once; chDB allows one stream a session, further ones wait. */
export const READ_SESSIONS = 6

/** A query whose reader has left often ends by itself soon: only one that continues for longer is killed. */
const ENDS_SOON_MS = 20

/** A query checks whether it was killed between two blocks of rows, and a kill may have to be repeated. */
const KILL_AGAIN_MS = 1_000

/** A cancellation that takes longer is logged. */
const SLOW_END_MS = 10_000

export interface ReadsDeps {
  /** Opens a session whose queries have this name, with further arguments. */
  open: (name: string, connectionArgs?: readonly string[]) => Session
  log: Pick<Log, 'warn'>
  /** A query that takes longer is ended, at the latest a block of rows later. */
  readMsMax: number
  /** Called when a query fails by itself. */
  onFailure: () => void
}

/** A slot for one reader at a time, with a session for each number of threads. */
interface Reader {
  name: string
  sessions: Partial<Record<Threads, Session>>
}

type Threads = Taken<Reader>['threads']

const ARGUMENTS: Record<Threads, readonly string[]> = { all: [], one: ['--max_threads=1'] }

/** Streams the results of queries; `project_id` of their parameters is their owner. */
export interface Reads {
  /**
   * Streams what a query returns, in a format. Ending the iteration early, or the signal, ends the query.
   * @throws 400 for a query that asks for too much; 503 when it fails, takes too long, or its turn does not come.
   */
  stream(query: Query, format: string, signal: AbortSignal | undefined): AsyncGenerator<StreamChunk>
  /** Idle sessions. */
  idle(): Session[]
  /** Waits for queries that are being ended, and closes everything. */
  close(): Promise<void>
}

export function createReads({ open, log, readMsMax, onFailure }: ReadsDeps): Reads {
  const readers = Array.from({ length: READ_SESSIONS }, (_, index): Reader => {
    return { name: `reader ${index}`, sessions: {} }
  })
  const turns = createReadTurns(readers, availableParallelism())
  // A query is planned on this thread.
  const starts = createLoopTurns()
  const killer = open('killer')
  const ending = new Set<Promise<void>>()

  function sessionOf({ name, sessions }: Reader, threads: Threads): Session {
    sessions[threads] ??= open(name, ARGUMENTS[threads])
    return sessions[threads]
  }

  function kill({ name }: Reader): Promise<unknown> {
    return killer.queryAsync(`KILL QUERY WHERE Settings['log_comment'] = '${name}' ASYNC`, { format: 'Null' })
  }

  /**
   * Ends a query whose reader has left. Cancelling its stream would block the whole process until its current block is
   * done (chDB 3.4), so it is killed, and its stream is read to its end, which waits in a thread.
   */
  async function end(reader: Reader, rest: AsyncIterator<StreamChunk>): Promise<void> {
    const started = performance.now()
    let killing = Promise.resolve()
    let timer = setTimeout(killAgain, ENDS_SOON_MS)
    function killAgain(): void {
      killing = killing
        .then(() => kill(reader))
        .then(
          () => undefined,
          (error: unknown) => log.warn({ err: error }, 'a query could not be killed'),
        )
      timer = setTimeout(killAgain, KILL_AGAIN_MS)
    }
    try {
      while (!(await rest.next()).done);
    } catch {
      // It was killed, or failed by itself after its reader had left.
    } finally {
      clearTimeout(timer)
    }
    // A kill still in progress would end the next query of this session.
    await killing
    // A session keeps the error of its last query, and its memory, until the next query.
    for (const session of Object.values(reader.sessions))
      await session.queryAsync('SELECT 1', { format: 'Null' }).catch(() => undefined)
    const ms = Math.round(performance.now() - started)
    if (ms > SLOW_END_MS) log.warn({ ms }, 'a query went on for long after it was killed')
  }

  function endLater(owner: string, reader: Reader, rest: AsyncIterator<StreamChunk>): void {
    const ended = end(reader, rest).finally(() => {
      ending.delete(ended)
      turns.give(owner, reader)
    })
    ending.add(ended)
  }

  async function* stream(
    query: Query,
    format: string,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<StreamChunk> {
    const owner = ownerOf(query)
    const { place: reader, threads } = await turns.take(owner, signal)
    using stop = stopBy(signal, readMsMax)
    let rest: AsyncIterator<StreamChunk> | undefined
    try {
      await starts.turn(owner)
      signal?.throwIfAborted()
      const session = sessionOf(reader, threads)
      const chunks = session.queryStreamBind(query.sql, query.params, { format })[Symbol.asyncIterator]()
      rest = chunks
      for (;;) {
        const next = await stop.before(chunks.next())
        if (next.done) rest = undefined
        if (next.done) return
        yield next.value
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (stop.isStopped()) throw error
      rest = undefined
      onFailure()
      throw readError(error)
    } finally {
      if (rest === undefined) turns.give(owner, reader)
      else endLater(owner, reader, rest)
    }
  }

  async function close(): Promise<void> {
    await Promise.all(ending)
    for (const { sessions } of readers) for (const session of Object.values(sessions)) session.close()
    killer.close()
  }

  return { stream, idle: () => turns.free().flatMap(({ sessions }) => Object.values(sessions)), close }
}

/** The owner of a read: its project, where it has one. */
function ownerOf({ params }: Query): string {
  const { project_id } = params
  return typeof project_id === 'string' ? project_id : ''
}

/** Waits for work until the signal or a time limit ends the waiting. */
function stopBy(signal: AbortSignal | undefined, msMax: number) {
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => undefined)
  let isStopped = false

  function stop(reason: unknown): void {
    isStopped = true
    stopped.reject(reason)
  }
  const gone = (): void => stop(signal?.reason)
  const timer = setTimeout(() => stop(tookTooLong()), msMax)
  signal?.addEventListener('abort', gone, { once: true })
  return {
    isStopped: () => isStopped,
    before: <Result>(work: Promise<Result>): Promise<Result> => Promise.race([work, stopped.promise]),
    [Symbol.dispose](): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', gone)
    },
  }
}
