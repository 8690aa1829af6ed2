/** A client that sends one small call at a time and reads the newest ones, like an interactive user. */
import { randomUUID } from 'node:crypto'
import { KEY } from '../../scripts/own-server.ts'
import { openTarget } from '../traces/target.mjs'
import { completeBody, makeCalls } from '../traces/workload.mjs'

const PROJECT = 'quiet/project'

/** Calls that are there before. */
const CALLS = 2_000

const PAUSE_MS = 20

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }

/** Fills the quiet project. */
export async function quietLoad(url) {
  const target = openTarget(url, 2)
  const post = (path, body) => target.ask({ path, headers, body })
  const calls = [...makeCalls(CALLS)]
  for (let from = 0; from < CALLS; from += 500)
    await post(`/v2/${PROJECT}/calls/complete`, completeBody(PROJECT, calls.slice(from, from + 500)))
  let number = 0

  const write = () =>
    post(
      `/v2/${PROJECT}/calls/complete`,
      completeBody(PROJECT, [
        { ...calls[number % CALLS], id: randomUUID(), trace: randomUUID(), parent: null },
      ]),
    )

  /** Another page each time. */
  const read = () =>
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
    /** The milliseconds of each write and read within a time, one after the other. */
    async measure(ms) {
      const times = { writes: [], reads: [], failed: 0 }
      for (const until = performance.now() + ms; performance.now() < until; number++) {
        for (const [kind, ask] of [
          ['writes', write],
          ['reads', read],
        ]) {
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

export function percentile(numbers, percent) {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))]
}
