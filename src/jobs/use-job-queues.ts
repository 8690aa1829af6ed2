import { afterAll, beforeAll, expect, vi } from 'vitest'
import { z } from 'zod'
import { newId } from '../ids.ts'
import { NO_PEERS, type Peers } from '../stores/control-db/peers.ts'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { SILENT } from '../test-log.ts'
import type { Job, JobContext, JobKind } from './job-kind.ts'
import { createJobQueue } from './job-queue.ts'

export type Work = Record<string, unknown>

/** Servers that do not hear of each other. */
export const DEAF: Peers = { ...NO_PEERS, arePossible: true }

/** A control database, and servers that run jobs of it. */
export function useJobQueues() {
  let control: Awaited<ReturnType<typeof openTestControlDb>>

  beforeAll(async () => {
    control = await openTestControlDb()
  })
  afterAll(() => control[Symbol.asyncDispose]())

  /** A server with one kind of job, under a new name unless one is given. */
  async function serve(
    given: Partial<JobKind<Work>> & Pick<JobKind<Work>, 'handle'>,
    { leaseMs = 30_000, peers = DEAF }: { leaseMs?: number; peers?: Peers } = {},
  ) {
    const ended: unknown[] = []
    const kind = given.kind ?? newId()
    const queue = createJobQueue({ control, log: SILENT, peers, leaseMs })
    const jobs = queue.define<Work>({
      payload: z.record(z.string(), z.unknown()),
      concurrency: 4,
      attemptsMax: 3,
      retryMs: () => 1,
      giveUp: async ({ id }, end) => void ended.push({ id, ...end }),
      ...given,
      kind,
    })
    const started = await queue.start()
    return { kind, ...jobs, ended, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() }
  }

  async function rowOf(kind: string, id: string) {
    const rows = control.selectFrom('jobs').selectAll().where('kind', '=', kind).where('id', '=', id)
    return rows.executeTakeFirstOrThrow()
  }

  function untilState(kind: string, id: string, state: string) {
    return vi.waitFor(
      async () => {
        const row = await rowOf(kind, id)
        expect(row.state).toBe(state)
        return row
      },
      { timeout: 60_000 },
    )
  }

  return { control: () => control, serve, rowOf, untilState }
}

/** A handler that waits until the test lets it go on. */
export function gated() {
  const begun = Promise.withResolvers<{ job: Job<Work>; context: JobContext }>()
  const gate = Promise.withResolvers<void>()
  const handle = async (job: Job<Work>, context: JobContext): Promise<void> => {
    begun.resolve({ job, context })
    const aborted = new Promise<never>((_, reject) => {
      context.signal.addEventListener('abort', () => reject(context.signal.reason))
    })
    await Promise.race([gate.promise, aborted])
  }
  return { handle, begun: begun.promise, open: gate.resolve }
}
