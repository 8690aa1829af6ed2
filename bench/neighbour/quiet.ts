/** A client that sends one small call at a time and reads the newest ones, like an interactive user. */
import { randomUUID } from 'node:crypto'
import { KEY } from '../../scripts/own-server.ts'
import { openTarget } from '../traces/target.ts'
import { completeBody, makeCalls } from '../traces/workload.ts'

/** The milliseconds of each write and read, and how many failed. */
export interface QuietTimes {
  writes: number[]
  reads: number[]
  failed: number
}

export interface QuietLoad {
  /** Writes and reads within a time, one after the other. */
  measure(ms: number): Promise<QuietTimes>
  close(): Promise<void>
}

const PROJECT = 'quiet/project'

/** Calls that are there before. */
const CALLS = 2_000

const PAUSE_MS = 20

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }

/** Fills the quiet project. */
export async function quietLoad(url: string): Promise<QuietLoad> {
  const target = openTarget(url, 2)
  const post = (path: string, body: string): Promise<unknown> => target.ask({ path, headers, body })
  const calls = [...makeCalls(CALLS)]
  for (let from = 0; from < CALLS; from += 500)
    await post(`/v2/${PROJECT}/calls/complete`, completeBody(PROJECT, calls.slice(from, from + 500)))
  let number = 0

  const write = (): Promise<unknown> => {
    const at = number % CALLS
    const written = calls
      .slice(at, at + 1)
      .map((call) => ({ ...call, id: randomUUID(), trace: randomUUID(), parent: null }))
    return post(`/v2/${PROJECT}/calls/complete`, completeBody(PROJECT, written))
  }

  /** Another page each time. */
  const read = (): Promise<unknown> =>
    post(
      '/calls/stream_query',
      JSON.stringify({
        project_id: PROJECT,
        limit: 20 + (number % 30),
        offset: (number * 7) % 1000,
        sort_by: [{ field: 'started_at', direction: 'desc' }],
      }),
    )

  return {
    async measure(ms) {
      const times: QuietTimes = { writes: [], reads: [], failed: 0 }
      for (const until = performance.now() + ms; performance.now() < until; number++) {
        for (const [kind, ask] of [
          ['writes', write],
          ['reads', read],
        ] as const) {
          const started = performance.now()
          await ask().catch(() => times.failed++)
          times[kind].push(performance.now() - started)
          await new Promise((wake) => setTimeout(wake, PAUSE_MS))
        }
      }
      return times
    },
    close: () => target.close(),
  }
}
