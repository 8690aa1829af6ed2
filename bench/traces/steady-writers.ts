/** Calls that come in at a steady rate, as from the programs of a team. */
import { JSON_HEADERS } from '../../scripts/own-server.ts'
import { newId } from '../../src/ids.ts'
import type { Target } from './target.ts'
import { completeBody, type WorkCall } from './workload.ts'

export const WRITERS = 2
export const BATCH_CALLS = 100

export interface Written {
  /** Milliseconds of each batch since it was due. */
  tookMs: number[]
  failed: number
}

/** Writes complete calls; resolves once they are stored. */
export async function writeCalls(target: Target, project: string, calls: readonly WorkCall[]): Promise<void> {
  await target.ask({
    path: `/v2/${project}/calls/complete`,
    headers: JSON_HEADERS,
    body: completeBody(project, calls),
  })
}

/**
 * Writes new calls, like stored ones, until a time of `performance.now()`.
 * @param rate calls a second, of all writers together
 */
export async function writeSteadily({
  target,
  project,
  stored,
  rate,
  until,
}: {
  target: Target
  project: string
  stored: readonly WorkCall[]
  rate: number
  until: number
}): Promise<Written> {
  const written: Written = { tookMs: [], failed: 0 }
  const everyMs = (1000 * BATCH_CALLS * WRITERS) / rate
  async function writer(): Promise<void> {
    for (let due = performance.now(); due < until; due += everyMs) {
      await pause(due)
      await writeCalls(target, project, copiesOf(stored)).then(
        () => written.tookMs.push(performance.now() - due),
        () => written.failed++,
      )
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
  return written
}

/** Resolves at a time of `performance.now()`, or at once where it has passed. */
export async function pause(due: number): Promise<void> {
  const ms = due - performance.now()
  if (ms > 0) await new Promise((wake) => setTimeout(wake, ms))
}

export function randomOf<Item>(items: readonly Item[]): Item {
  const item = items[Math.floor(Math.random() * items.length)]
  if (item === undefined) throw new Error('There is nothing to choose from')
  return item
}

/** New calls of now. */
function copiesOf(stored: readonly WorkCall[]): WorkCall[] {
  const now = Date.now()
  return Array.from({ length: BATCH_CALLS }, (_, index) => ({
    ...randomOf(stored),
    id: newId(),
    trace: newId(),
    parent: null,
    startedMs: now + index,
    endedMs: now + index + 100,
  }))
}
