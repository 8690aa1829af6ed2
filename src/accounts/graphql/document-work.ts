import type { GraphQLResolveInfo } from 'graphql'
import pLimit from 'p-limit'
import { type ClientError, invalidRequest } from '../../errors.ts'
import { createEventLoopTurns } from '../../fairness/event-loop-turns.ts'
import type { CallContext } from '../../http/caller.ts'
import { member } from './record-types.ts'

/** How deep a document may read. Clients read up to 7 levels deep; runs of projects of runs are four more each time. */
const DEPTH_MAX = 16

/**
 * Records that one document reads: answers of resolvers, and the items of their pages. A page of 5,000 runs, the
 * largest, is 20,000 with three more reads of each, such as clients send; clients ask for 50 at once. A read takes up
 * to a millisecond.
 */
const RECORDS_MAX = 25_000

/** Values that one document answers: a page of 5,000 runs with all their fields is 200,000. A million take a second. */
const FIELDS_MAX = 500_000

/** Characters of what one document answers: a page of 5,000 runs with configs and summaries of 10 kB has as many. */
const CHARS_MAX = 64 * 1024 * 1024

/** Fields that are answered at once, within some milliseconds; each object after them takes a turn of its own. */
const FIELDS_AT_ONCE = 1_000

/**
 * Reads of one document at once: a page of runs has one or more for each run, and the trace database refuses more than
 * 250 of a project. An answer may have some ten megabytes.
 */
const READS_AT_ONCE = 4

/** The work that one document has caused so far, within its limits. */
export interface DocumentWork {
  /** Aborts when the document has reached a limit, and when the client goes away. */
  signal: AbortSignal
  /** The limit that the document has reached. */
  refusal(): ClientError | undefined
  /** Counts one field. @throws where the document may not go on */
  field(): void
  /** Counts the characters of a value. @throws where the document may not go on */
  answered(chars: number): void
  /** Resolves when the next object may be answered; undefined while the document is small enough not to wait. */
  turnOfObject(): Promise<void> | undefined
  /** Counts a read, and does it when it may begin. @throws where the document may not go on */
  read<Answer>(path: GraphQLResolveInfo['path'], work: () => Promise<Answer>): Promise<Answer>
  /** Counts what a read has answered. @throws where the document may not go on */
  found(answer: unknown): void
}

/**
 * Counts the work of documents, in which callers take turns at the event loop: SQLite answers without giving it one.
 */
export function createDocumentWork(): (context: Pick<CallContext, 'caller' | 'signal'>) => DocumentWork {
  const turns = createEventLoopTurns()

  return ({ caller: { defaultEntity, keyId }, signal: clientGone }) => {
    const stopped = new AbortController()
    const signal = AbortSignal.any([clientGone, stopped.signal])
    let refusal: ClientError | undefined
    let fields = 0
    let records = 0
    let answeredChars = 0
    let lastTurn = Promise.resolve()
    const atOnce = pLimit(READS_AT_ONCE)

    function refuse(message: string): never {
      refusal ??= invalidRequest(message)
      stopped.abort(refusal)
      throw refusal
    }

    function addRecords(count: number): void {
      signal.throwIfAborted()
      records += count
      if (records > RECORDS_MAX) refuse(`A document may read ${RECORDS_MAX} records: ask for smaller pages`)
    }

    /** Of a document one stands in line at a time, since it may have 100,000 turns to take. */
    function turn(): Promise<void> {
      lastTurn = lastTurn.then(async () => {
        await turns.turn(`${defaultEntity}/${keyId}`)
        // The reply is made as soon as the document is ended; what still waits is discarded with it.
        if (signal.aborted) await new Promise(() => undefined)
      })
      return lastTurn
    }

    return {
      signal,
      refusal: () => refusal,
      field() {
        if (++fields > FIELDS_MAX) refuse(`A reply may have ${FIELDS_MAX} fields: ask for smaller pages`)
      },
      answered(chars) {
        answeredChars += chars
        if (answeredChars > CHARS_MAX)
          refuse(`A reply may have ${CHARS_MAX} characters: ask for smaller pages or fewer samples`)
      },
      turnOfObject: () => (fields > FIELDS_AT_ONCE ? turn() : undefined),
      async read(path, work) {
        if (depthOf(path) > DEPTH_MAX) refuse(`A document may read ${DEPTH_MAX} levels deep`)
        addRecords(1)
        return atOnce(async () => {
          await turn()
          return work()
        })
      },
      found(answer) {
        const edges = member(answer, 'edges')
        if (Array.isArray(edges)) addRecords(edges.length)
      },
    }
  }
}

/** The names on a path; places in lists do not count. */
function depthOf(path: GraphQLResolveInfo['path']): number {
  let depth = 0
  for (let at: typeof path | undefined = path; at !== undefined; at = at.prev)
    if (typeof at.key === 'string') depth++
  return depth
}
