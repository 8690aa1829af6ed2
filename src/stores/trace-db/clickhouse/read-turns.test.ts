import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createReadTurns } from './read-turns.ts'

const SLOTS = [1, 2, 3, 4, 5, 6]

/** Requests a slot; `slot` is undefined until it is granted. */
function ask(turns: ReturnType<typeof createReadTurns<number>>, owner: string, signal?: AbortSignal) {
  const asked: { owner: string; slot?: number; threads?: string; error?: unknown } = { owner }
  turns.take(owner, signal).then(
    (taken) => {
      asked.slot = taken.slot
      asked.threads = taken.threads
    },
    (error: unknown) => {
      asked.error = error
    },
  )
  return asked
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Two processors whose share one read of the flood has, since another owner was active just before. */
async function floodBeside(other: string, owners: readonly string[]) {
  const turns = createReadTurns(SLOTS, 2)
  const { slot } = await turns.take(other, undefined)
  turns.give(other, slot)
  const flood = owners.map((owner) => ask(turns, owner))
  await settled()
  expect(flood.filter((asked) => asked.slot !== undefined)).toHaveLength(1)
  return { turns, flood }
}

describe('createReadTurns', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('gives one owner half of the places, however many it requests, and another its first at once', async () => {
    const turns = createReadTurns(SLOTS, 16)
    const flood = Array.from({ length: 20 }, () => ask(turns, 'flood'))
    const [first, second, third] = ['b', 'b', 'c'].map((owner) => ask(turns, owner))
    await settled()
    expect(flood.filter(({ slot }) => slot !== undefined)).toHaveLength(3)
    expect([first?.slot, second?.slot, third?.slot].every((slot) => slot !== undefined)).toBe(true)
    expect(turns.free()).toHaveLength(0)
  })

  it('gives all threads to one read of an owner', async () => {
    const turns = createReadTurns(SLOTS, 16)
    const asked = ['a', 'a', 'b'].map((owner) => ask(turns, owner))
    await settled()
    expect(asked.map(({ threads }) => threads)).toEqual(['all', 'one', 'all'])
  })

  it('gives an owner no more than its share of the processors as long as another is active', async () => {
    const { turns, flood } = await floodBeside(
      'person',
      Array.from({ length: 5 }, () => 'flood'),
    )
    const again = ask(turns, 'person')
    await settled()
    expect(again).toMatchObject({ slot: expect.any(Number), threads: 'all' })
    turns.give('flood', flood[0]?.slot ?? -1)
    await settled()
    expect(flood[1]).toMatchObject({ slot: expect.any(Number), threads: 'one' })
  })

  it('gives an owner its places again once no other is active', async () => {
    const { turns, flood } = await floodBeside(
      'person',
      Array.from({ length: 9 }, () => 'flood'),
    )
    vi.advanceTimersByTime(20_000)
    turns.give('flood', flood[0]?.slot ?? -1)
    await settled()
    expect(flood.slice(1).filter((asked) => asked.slot !== undefined)).toHaveLength(3)
  })

  it('gives an entity with many projects no more than one with one', async () => {
    const { turns } = await floodBeside(
      'person/project',
      Array.from({ length: 5 }, (_, project) => `flood/${project}`),
    )
    const again = ask(turns, 'person/project')
    await settled()
    expect(again).toMatchObject({ slot: expect.any(Number), threads: 'all' })
  })

  it('leaves one slot free beside an entity that is alone', async () => {
    const turns = createReadTurns(SLOTS, 64)
    const flood = Array.from({ length: 9 }, (_, project) => ask(turns, `flood/${project}`))
    await settled()
    expect(flood.filter((asked) => asked.slot !== undefined)).toHaveLength(5)
    expect(turns.free()).toHaveLength(1)
  })

  it('lets owners take turns, each in order', async () => {
    const turns = createReadTurns([1], 16)
    const begun: string[] = []
    const take = async (owner: string, name: string) => {
      const { slot } = await turns.take(owner, undefined)
      begun.push(name)
      await settled()
      turns.give(owner, slot)
    }
    await Promise.all([take('a', 'a1'), take('a', 'a2'), take('a', 'a3'), take('b', 'b1'), take('b', 'b2')])
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2'])
    expect(turns.free()).toEqual([1])
  })

  it('forgets readers that have left, and goes on with the next', async () => {
    const turns = createReadTurns([1], 16)
    const { slot } = await turns.take('a', undefined)
    const leaving = new AbortController()
    const gone = ask(turns, 'b', leaving.signal)
    const next = ask(turns, 'b')
    leaving.abort(new Error('gone'))
    turns.give('a', slot)
    await settled()
    expect(gone).toMatchObject({ error: new Error('gone') })
    expect(next.slot).toBe(1)
  })

  it('503 with Retry-After for an owner that has too many waiting, and for no other owner', async () => {
    const turns = createReadTurns([1], 16)
    const { slot } = await turns.take('a', undefined)
    const flood = Array.from({ length: 300 }, () => ask(turns, 'flood'))
    const other = ask(turns, 'b')
    await settled()
    const refused = flood.filter(({ error }) => error !== undefined)
    expect(refused).toHaveLength(50)
    expect(refused[0]?.error).toMatchObject({ status: 503, retryAfterSeconds: 2 })
    turns.give('a', slot)
    await settled()
    turns.give('flood', 1)
    await settled()
    expect(other.slot).toBe(1)
  })

  it('keeps waiting readers in the queue when another has left long ago', async () => {
    const turns = createReadTurns([1], 16)
    const first = ask(turns, 'a')
    await settled()
    const client = new AbortController()
    ask(turns, 'b', client.signal)
    client.abort(new Error('gone'))
    vi.advanceTimersByTime(20_000)
    const next = ask(turns, 'b')
    // By now, the reader that left the queue would have waited too long.
    vi.advanceTimersByTime(15_000)
    turns.give('a', first.slot ?? 0)
    await settled()
    expect(next.slot).toBe(1)
  })

  it('pauses an owner with more to read three times as long as its read took while another waits for its answers', async () => {
    const turns = createReadTurns(SLOTS, 2)
    turns.give('person', (await turns.take('person', undefined)).slot)
    const flood = Array.from({ length: 3 }, () => ask(turns, 'flood'))
    await settled()
    vi.advanceTimersByTime(100)
    turns.give('flood', flood[0]?.slot ?? -1)
    vi.advanceTimersByTime(299)
    await settled()
    expect(flood[1]?.slot).toBeUndefined()
    vi.advanceTimersByTime(1)
    await settled()
    expect(flood[1]?.slot).toBeDefined()
  })
})
