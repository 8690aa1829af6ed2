import { describe, expect, it, vi } from 'vitest'
import { StoreFailed } from '../errors.ts'
import type { Heard, Peers } from '../stores/control-db/peers.ts'
import { eventually } from '../test-eventually.ts'
import { isoIn } from '../time.ts'
import type { Requeue } from './job-kind.ts'
import type { Join } from './replace-waiting.ts'
import { DEAF, gated, useJobQueues, type Work } from './use-job-queues.ts'

const { control, serve, rowOf, untilState } = useJobQueues()

/** As if the servers that hold leases of a kind were gone. */
async function expireLeases(kind: string): Promise<void> {
  await control().updateTable('jobs').set({ leased_until: '' }).where('kind', '=', kind).execute()
}

describe('a job', () => {
  it('is handled with its payload, and stays as completed', async () => {
    const seen: unknown[] = []
    await using server = await serve({ handle: async (job) => void seen.push(job) })
    await server.add([{ id: 'a', payload: { n: 1 }, keyId: 'k' }])
    const row = await untilState(server.kind, 'a', 'completed')
    expect(seen).toEqual([{ id: 'a', payload: { n: 1 }, keyId: 'k', attempt: 1, isLastAttempt: false }])
    expect(row).toMatchObject({ attempts: 1, lease_owner: null, lease_token: null, last_error: null })
  })

  it('is not added a second time while it waits or runs, and again once it has ended', async () => {
    const { handle, begun, open } = gated()
    const seen: number[] = []
    await using server = await serve({
      handle: async (job, context) => {
        seen.push(Number(job.payload['n']))
        await handle(job, context)
      },
    })
    await server.add([{ id: 'a', payload: { n: 1 } }])
    await begun
    await server.add([{ id: 'a', payload: { n: 2 } }])
    open()
    await untilState(server.kind, 'a', 'completed')
    await server.add([{ id: 'a', payload: { n: 3 } }])
    await eventually(() => expect(seen).toEqual([1, 3]))
  })

  it('waits for its time', async () => {
    const seen: string[] = []
    await using server = await serve({ handle: async ({ id }) => void seen.push(id) })
    await server.add([
      { id: 'later', payload: {}, runAt: isoIn(3_600_000) },
      { id: 'soon', payload: {}, runAt: isoIn(50) },
    ])
    await untilState(server.kind, 'soon', 'completed')
    expect(seen).toEqual(['soon'])
    expect((await rowOf(server.kind, 'later')).state).toBe('waiting')
  })

  it('shows its progress in its row while it runs', async () => {
    const { handle, begun, open } = gated()
    await using server = await serve({ handle })
    await server.add([{ id: 'a', payload: {} }])
    const { context } = await begun
    context.progress({ done: 1 })
    context.progress({ done: 2 })
    await eventually(async () => expect((await rowOf(server.kind, 'a')).progress).toBe('{"done":2}'))
    open()
    expect((await untilState(server.kind, 'a', 'completed')).progress).toBeNull()
  })

  it('runs beside as many of its kind as the kind allows', async () => {
    let running = 0
    let most = 0
    await using server = await serve({
      concurrency: 2,
      handle: async () => {
        most = Math.max(most, ++running)
        await new Promise(setImmediate)
        running--
      },
    })
    await server.add(Array.from({ length: 10 }, (_, n) => ({ id: String(n), payload: {} })))
    for (let n = 0; n < 10; n++) await untilState(server.kind, String(n), 'completed')
    expect(most).toBe(2)
  })

  it('gets one of the last slots of its kind while jobs of another entity hold the rest', async () => {
    const begun: string[] = []
    const { handle, open } = gated()
    await using server = await serve({
      concurrency: 16,
      entityConcurrency: 15,
      handle: async (job, context) => {
        begun.push(job.id)
        if (job.id !== 'other') await handle(job, context)
      },
    })
    await server.add(Array.from({ length: 20 }, (_, n) => ({ id: String(n), payload: {}, entity: 'many' })))
    await eventually(() => expect(begun).toHaveLength(15))
    await server.add([{ id: 'other', payload: {}, entity: 'one' }])
    await untilState(server.kind, 'other', 'completed')
    expect(begun).toHaveLength(16)
    open()
  })
})

describe('a singleton key', () => {
  it('belongs to one waiting job, which becomes due with the soonest', async () => {
    const gate = gated()
    const seen: string[] = []
    await using server = await serve({
      concurrency: 1,
      handle: async (job, context) => {
        seen.push(job.id)
        if (job.id === '1') await gate.handle(job, context)
      },
    })
    const add = (id: string, runAt?: string) =>
      control()
        .transaction()
        .execute(async (tx) => {
          const job = { id, payload: {}, singletonKey: 'k', ...(runAt && { runAt }) }
          await server.addOnceIn(tx, job)
        })
    await add('1', isoIn(3_600_000))
    await add('not added')
    server.wake()
    await gate.begun
    await add('2')
    await add('not added either')
    gate.open()
    await untilState(server.kind, '2', 'completed')
    expect(seen).toEqual(['1', '2'])
  })

  it('lets a job take the place of the one that waits, unless that is complete', async () => {
    const seen: unknown[] = []
    await using server = await serve({ handle: async ({ payload }) => void seen.push(payload['calls']) })
    const runAt = isoIn(3_600_000)
    const join: Join<Work> = (waiting, { id, payload }) => {
      const before = String(waiting.payload['calls'])
      return before.length < 2 ? { id, payload: { calls: `${before}${payload['calls']}` } } : undefined
    }
    for (const calls of ['a', 'b', 'c', 'd'])
      await control()
        .transaction()
        .execute((tx) =>
          server.replaceIn(tx, [{ id: calls, payload: { calls }, singletonKey: 'k', runAt }], join),
        )
    server.wake()
    await untilState(server.kind, 'b', 'completed')
    expect(seen).toEqual(['ab'])
    expect((await rowOf(server.kind, 'd')).payload).toBe('{"calls":"cd"}')
  })
})

describe('groups in turn', () => {
  it('run the jobs of a group in order, one at a time, and one of a concurrency key', async () => {
    const order: string[] = []
    const running = new Set<string>()
    const clashes: string[] = []
    await using server = await serve({
      order: 'groups-in-turn',
      concurrency: 100,
      handle: async ({ id, payload }) => {
        for (const key of [`${payload['group']}`, `${payload['machine']}`]) {
          if (running.has(key)) clashes.push(id)
          running.add(key)
        }
        await new Promise(setImmediate)
        running.clear()
        order.push(id)
      },
    })
    const job = (id: string, group: string) => {
      return { id, payload: { group, machine: 'm' }, group, concurrencyKey: 'm' }
    }
    await server.add([job('1', 'a'), job('2', 'a'), job('3', 'b'), job('4', 'c'), job('5', 'b')])
    for (const id of ['1', '2', '3', '4', '5']) await untilState(server.kind, id, 'completed')
    expect(order).toEqual(['1', '3', '4', '2', '5'])
    expect(clashes).toEqual([])
  })

  it('wait for a job of their group that runs on another server', async () => {
    const { handle, begun, open } = gated()
    const order = 'groups-in-turn' as const
    await using first = await serve({ handle, order, concurrency: 1 })
    await first.add([{ id: '1', payload: {}, group: 'a' }])
    await begun
    const seen: string[] = []
    await using other = await serve({ kind: first.kind, order, handle: async ({ id }) => void seen.push(id) })
    await other.add([
      { id: '2', payload: {}, group: 'a', concurrencyKey: 'm' },
      { id: '3', payload: {}, group: 'b', concurrencyKey: 'm' },
    ])
    await untilState(first.kind, '3', 'completed')
    expect(seen).toEqual(['3'])
    expect(await first.places('m')).toEqual(new Map([['2', 1]]))
    open()
    await untilState(first.kind, '2', 'completed')
  })
})

describe('a job that fails', () => {
  it('is tried again, and given up with the last reason', async () => {
    const attempts: number[] = []
    await using server = await serve({
      handle: async ({ attempt }) => {
        attempts.push(attempt)
        throw new Error(`no ${attempt}`)
      },
    })
    await server.add([{ id: 'a', payload: {} }])
    const row = await untilState(server.kind, 'a', 'failed')
    expect(attempts).toEqual([1, 2, 3])
    expect(row.last_error).toBe('no 3')
    expect(server.ended).toMatchObject([{ id: 'a', why: 'failed', reason: 'no 3' }])
  })

  it('is tried again from the first attempt on after one that counted anew', async () => {
    const attempts: number[] = []
    await using server = await serve({
      handle: async ({ attempt }, { countAnew }) => {
        attempts.push(attempt)
        if (attempts.length === 3) await control().transaction().execute(countAnew)
        throw new Error('no')
      },
    })
    await server.add([{ id: 'a', payload: {} }])
    expect(await untilState(server.kind, 'a', 'failed')).toMatchObject({ attempts: 3 })
    expect(attempts).toEqual([1, 2, 3, 2, 3])
  })

  it('waits after an outage, and the attempt does not count', async () => {
    const requeued: Requeue[] = []
    await using server = await serve({
      requeued: async (_tx, _id, cause) => void requeued.push(cause),
      handle: () => Promise.reject(new StoreFailed('no answer', undefined)),
    })
    await server.add([{ id: 'a', payload: {} }])
    await eventually(() => expect(requeued).toEqual([{ why: 'outage', reason: 'no answer', attempts: 0 }]))
    expect(await untilState(server.kind, 'a', 'waiting')).toMatchObject({ last_error: 'no answer' })
  })

  it('is given up at once where its kind sees no hope', async () => {
    await using server = await serve({
      retries: () => false,
      handle: async () => {
        throw new Error('never: \0')
      },
    })
    await server.add([{ id: 'a', payload: {} }])
    const row = await untilState(server.kind, 'a', 'failed')
    expect(row).toMatchObject({ attempts: 1, last_error: 'never: \uFFFD' })
  })
})

describe('a server that ends', () => {
  it('gives its jobs back when it is stopped, and the attempt does not count', async () => {
    const { handle, begun } = gated()
    const server = await serve({ handle })
    await server.add([{ id: 'a', payload: {} }])
    await begun
    await server[Symbol.asyncDispose]()
    expect(await rowOf(server.kind, 'a')).toMatchObject({ state: 'waiting', attempts: 0, lease_token: null })
    await using next = await serve({ kind: server.kind, handle: async () => {} })
    expect(await untilState(next.kind, 'a', 'completed')).toMatchObject({ attempts: 1 })
  })

  it('loses its jobs to another server when its lease expires, and its later writes have no effect', async () => {
    const { handle, begun, open } = gated()
    await using lost = await serve({ handle })
    await lost.add([{ id: 'a', payload: {} }])
    const { context } = await begun
    const interrupted: unknown[] = []
    await using next = await serve({
      kind: lost.kind,
      handle: async () => {},
      requeued: async (_tx, id, { why }) => void interrupted.push({ id, why }),
    })
    await expireLeases(lost.kind)
    next.wake()
    const taken = await untilState(lost.kind, 'a', 'completed')
    expect(taken).toMatchObject({ attempts: 2 })
    expect(interrupted).toEqual([{ id: 'a', why: 'interrupted' }])
    const late = control()
      .transaction()
      .execute((tx) => context.fence(tx))
    await expect(late).rejects.toThrow('lease')
    open()
    await lost[Symbol.asyncDispose]()
    expect(await rowOf(lost.kind, 'a')).toEqual(taken)
    expect(lost.ended).toEqual([])
  })

  it('each time a job runs has the job given up', async () => {
    const first = gated()
    await using ends = await serve({ handle: first.handle, attemptsMax: 1 })
    await ends.add([{ id: 'a', payload: {} }])
    await first.begun
    await using next = await serve({ kind: ends.kind, handle: async () => {} })
    await expireLeases(ends.kind)
    next.wake()
    await untilState(ends.kind, 'a', 'failed')
    const reason = 'Given up, since the server ended too often while this was in progress'
    expect(next.ended).toEqual([{ id: 'a', why: 'interrupted', reason }])
  })

  it('some times in which a job runs has it given up, whatever attempts are left', async () => {
    const limits = { attemptsMax: 12, interruptionsMax: 2 }
    const [first, second] = [gated(), gated()]
    await using once = await serve({ handle: first.handle, ...limits })
    await once.add([{ id: 'a', payload: {} }])
    await first.begun
    await using twice = await serve({ kind: once.kind, handle: second.handle, ...limits })
    await expireLeases(once.kind)
    twice.wake()
    await second.begun
    await using last = await serve({ kind: once.kind, handle: async () => {}, ...limits })
    await expireLeases(once.kind)
    last.wake()
    await untilState(once.kind, 'a', 'failed')
    const reason = 'Given up, since the server ended too often while this was in progress'
    expect([...once.ended, ...twice.ended, ...last.ended]).toEqual([{ id: 'a', why: 'interrupted', reason }])
  })
})

it('is left to others by a server that pauses, which gives up those that are cancelled', async () => {
  const handle = vi.fn(async () => {})
  await using paused = await serve({ handle, isPaused: () => true })
  await paused.add(['a', 'b'].map((id) => ({ id, payload: {} })))
  expect(await paused.cancel('a', 'not wanted')).toBe(true)
  await using _other = await serve({ kind: paused.kind, handle: async () => {} })
  await untilState(paused.kind, 'b', 'completed')
  expect(handle).not.toHaveBeenCalled()
})

describe('a job that is cancelled', () => {
  it('ends at once while it waits', async () => {
    await using server = await serve({ handle: async () => {} })
    await server.add([{ id: 'a', payload: {}, runAt: isoIn(3_600_000) }])
    expect(await server.cancel('a', 'not wanted')).toBe(true)
    expect(await rowOf(server.kind, 'a')).toMatchObject({ state: 'cancelled', last_error: 'not wanted' })
    expect(server.ended).toEqual([{ id: 'a', why: 'cancelled', reason: 'not wanted' }])
    expect(await server.cancel('a', 'again')).toBe(false)
    expect(await server.cancel('never was', 'again')).toBe(false)
  })

  it('has its handler interrupted', async () => {
    const { handle, begun } = gated()
    await using server = await serve({ handle })
    await server.add([{ id: 'a', payload: {} }])
    await begun
    expect(await server.cancel('a', 'not wanted')).toBe(true)
    await untilState(server.kind, 'a', 'cancelled')
    expect(server.ended).toEqual([{ id: 'a', why: 'cancelled', reason: 'not wanted' }])
  })

  it('has its handler interrupted on another server, which hears of it', async () => {
    const { handle, begun } = gated()
    const heard: Heard[] = []
    const onMessage: Peers['onMessage'] = (topic, call) => {
      if (topic === 'cancelled') heard.push(call)
    }
    // Its heartbeats are too rare for the test.
    await using runs = await serve({ handle }, { leaseMs: 600_000, peers: { ...DEAF, onMessage } })
    const send: Peers['send'] = (topic, text) => {
      if (topic === 'cancelled') for (const call of heard) call(text, 'other')
    }
    await using other = await serve({ kind: runs.kind, handle }, { peers: { ...DEAF, send } })
    await runs.add([{ id: 'a', payload: {} }])
    await begun
    expect(await other.cancel('a', 'not wanted')).toBe(true)
    await untilState(runs.kind, 'a', 'cancelled')
  })

  it('has its handler interrupted on another server, which does not hear of it', async () => {
    const { handle, begun } = gated()
    await using runs = await serve({ handle }, { leaseMs: 6_000 })
    await runs.add([{ id: 'a', payload: {} }])
    await begun
    await using other = await serve({ kind: runs.kind, handle: async () => {} })
    expect(await other.cancel('a', 'not wanted')).toBe(true)
    await untilState(runs.kind, 'a', 'cancelled')
    expect(runs.ended).toEqual([{ id: 'a', why: 'cancelled', reason: 'not wanted' }])
  })
})
