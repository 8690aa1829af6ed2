import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { newId } from '../ids.ts'
import { eventually } from '../test-eventually.ts'
import { isoIn } from '../time.ts'
import type { Job, JobContext } from './job-kind.ts'
import { gated, useJobQueues, type Work } from './use-job-queues.ts'

const { control, serve, rowOf, untilState } = useJobQueues()

describe('a server whose lease was lost', () => {
  it('runs a job that the database took for it without its learning of it, once the lease has expired', async () => {
    const { handle, begun, open } = gated()
    await using server = await serve({
      handle: (job, context) => (job.id === 'a' ? handle(job, context) : Promise.resolve()),
    })
    await server.add([
      { id: 'a', payload: {} },
      { id: 'b', payload: {}, runAt: isoIn(3_600_000) },
    ])
    await begun
    const { lease_owner } = await rowOf(server.kind, 'a')
    const taken = { state: 'active' as const, lease_owner, lease_token: newId(), leased_until: isoIn(-1) }
    await control()
      .updateTable('jobs')
      .set(taken)
      .where('kind', '=', server.kind)
      .where('id', '=', 'b')
      .execute()
    server.wake()
    await untilState(server.kind, 'b', 'completed')
    open()
    expect(await untilState(server.kind, 'a', 'completed')).toMatchObject({ attempts: 1 })
  })

  it('interrupts an attempt whose lease was lost, and not the one that it has begun since', async () => {
    const attempts = [gated(), gated()]
    const signals: AbortSignal[] = []
    const handle = async (job: Job<Work>, context: JobContext): Promise<void> => {
      signals.push(context.signal)
      await attempts[job.attempt - 1]?.handle(job, context)
    }
    await using server = await serve({ handle }, { leaseMs: 600 })
    await server.add([{ id: 'a', payload: {} }])
    await attempts[0]?.begun
    // As another server returns it.
    const free = { state: 'waiting' as const, lease_owner: null, lease_token: null, leased_until: null }
    await control().updateTable('jobs').set(free).where('kind', '=', server.kind).execute()
    server.wake()
    await attempts[1]?.begun
    await eventually(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]))
    attempts[1]?.open()
    expect(await untilState(server.kind, 'a', 'completed')).toMatchObject({ attempts: 2 })
    expect(server.ended).toEqual([])
  })

  it('does not go on to record the failure of a job whose project was erased', async () => {
    let tries = 0
    await using server = await serve({
      handle: () => Promise.reject(new Error('nothing is there')),
      retries: () => false,
      async giveUp() {
        tries++
        // As an erasure removes it, while the project takes nothing.
        await control().deleteFrom('jobs').where('kind', '=', server.kind).execute()
        throw new Error('the project is being deleted')
      },
    })
    await server.add([{ id: 'a', payload: {} }])
    await eventually(() => expect(tries).toBe(1))
    await delay(3_000)
    expect(tries).toBe(1)
  })
})
