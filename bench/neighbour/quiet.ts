/** A client that sends one small call at a time, reads the newest ones and searches, like an interactive user. */
import { JSON_HEADERS } from '../../scripts/own-server.ts'
import { openTarget } from '../traces/target.ts'
import { completeBody, makeCalls } from '../traces/workload.ts'

/** What it asks, in turns. */
export const QUIET_KINDS = ['writes', 'reads', 'searches'] as const
export type QuietKind = (typeof QUIET_KINDS)[number]

/** The milliseconds of each request, and how many failed. */
export interface QuietTimes extends Record<QuietKind, number[]> {
  failed: number
}

export interface QuietLoad {
  /** Requests within a time, one after the other. */
  measure(ms: number): Promise<QuietTimes>
  close(): Promise<void>
}

const PROJECT = 'quiet/project'

/** Calls that are there before. */
const CALLS = 2_000

const PAUSE_MS = 20

/** Fills the quiet project. */
export async function quietLoad(url: string): Promise<QuietLoad> {
  const target = openTarget(url, 2)
  const post = (path: string, body: string): Promise<unknown> =>
    target.ask({ path, headers: JSON_HEADERS, body })
  const calls = [...makeCalls(CALLS)]
  for (let from = 0; from < CALLS; from += 500)
    await post(`/v2/${PROJECT}/calls/complete`, completeBody(PROJECT, calls.slice(from, from + 500)))
  let number = 0

  const list = (question: object): Promise<unknown> => {
    const sort_by = [{ field: 'started_at', direction: 'desc' }]
    return post('/calls/stream_query', JSON.stringify({ project_id: PROJECT, sort_by, ...question }))
  }

  const requests: Record<QuietKind, () => Promise<unknown>> = {
    // The one that follows all before it.
    writes: () =>
      post(`/v2/${PROJECT}/calls/complete`, completeBody(PROJECT, [...makeCalls(1, 1, CALLS + number)])),
    // Another page each time.
    reads: () => list({ limit: 20 + (number % 30), offset: (number * 7) % 1000 }),
    // Which memory does not answer.
    searches: () => list({ limit: 20, query: scoreAbove(((number * 37) % 1000) / 1000) }),
  }

  return {
    async measure(ms) {
      const times: QuietTimes = { writes: [], reads: [], searches: [], failed: 0 }
      for (const until = performance.now() + ms; performance.now() < until; number++) {
        for (const kind of QUIET_KINDS) {
          const started = performance.now()
          await requests[kind]().catch(() => times.failed++)
          times[kind].push(performance.now() - started)
          await new Promise((wake) => setTimeout(wake, PAUSE_MS))
        }
      }
      return times
    },
    close: () => target.close(),
  }
}

function scoreAbove(score: number): object {
  return { $expr: { $gt: [{ $getField: 'output.score' }, { $literal: score }] } }
}
