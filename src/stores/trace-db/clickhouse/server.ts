import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from './connection.ts'

/** A ClickHouse server that may be away for some time. */
export interface Server extends AsyncDisposable {
  /**
   * The connection to it; waits while it starts.
   * @throws StoreFailed when it does not answer soon.
   */
  connection(): Promise<Connection>
  /** When an insert that failed is repeated. */
  repeatsInserts: Repeat
}

const REPEAT_EVERY_MS = 20

/** Longer than it takes to notice that a server has ended, from when on its connection is waited for. */
const REPEAT_FOR_MS = 2_000

/** When a failed request is repeated: where it never arrived, or also where no answer to it did. */
export type Repeat = 'unsent' | 'unanswered'

/** Names that are not found, and machines that are not reached, may be so for a moment while a server moves. */
const UNSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']

const CODES: Record<Repeat, readonly unknown[]> = {
  unsent: UNSENT,
  unanswered: [...UNSENT, 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
}

/** Whether a request failed without an answer of the server. */
export function isUnanswered(error: unknown): boolean {
  return CODES.unanswered.includes(connectionCodeOf(error))
}

function connectionCodeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/**
 * Makes a request on the connection of the moment. A server that ends meanwhile is waited for.
 * @throws what the request fails with; 503 when the server does not answer soon
 */
export async function request<Answer>(
  server: Server,
  repeat: Repeat,
  make: (connection: Connection) => Promise<Answer>,
): Promise<Answer> {
  const giveUpAt = performance.now() + REPEAT_FOR_MS
  /** Of an attempt that may have been carried out: what a server says that is away since then is not true of it. */
  let unanswered: unknown
  for (;;) {
    const connection = await server.connection().catch((error: unknown) => {
      throw unanswered ?? error
    })
    try {
      return await make(connection)
    } catch (error) {
      if (!CODES[repeat].includes(connectionCodeOf(error)) || performance.now() > giveUpAt) throw error
      if (!UNSENT.includes(String(connectionCodeOf(error)))) unanswered = error
      await delay(REPEAT_EVERY_MS)
    }
  }
}

/** The requests that maintenance makes. */
export type Requests = Pick<Connection, 'rows' | 'run'>

/** Makes each request on the connection of the moment. */
export function requestsTo(server: Server): Requests {
  return {
    rows: (...query) => request(server, 'unanswered', (connection) => connection.rows(...query)),
    run: (...statement) => request(server, 'unsent', (connection) => connection.run(...statement)),
  }
}
