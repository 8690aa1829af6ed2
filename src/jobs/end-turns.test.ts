import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { isoIn } from '../time.ts'
import { endTurns } from './end-turns.ts'
import { insertJobs, type JobRow } from './queries.ts'
import { useJobQueues } from './use-job-queues.ts'

let control: Awaited<ReturnType<typeof openTestControlDb>>

beforeAll(async () => {
  control = await openTestControlDb()
})
afterAll(() => control[Symbol.asyncDispose]())

const MINUTE_MS = 60_000

/** Which attempts are asked to end: of entities that hold the slots since so many ms, while others wait. */
async function askedOf(
  kind: string,
  { held, ending = [], waiting }: { held: [string, number][]; ending?: string[]; waiting: string[] },
) {
  const row = { kind, state: 'waiting', payload: '{}', attempts: 0, attempts_max: 1 } as const
  const jobs = waiting.map((entity, index) => ({ ...row, entity, id: `w${index}`, run_at: isoIn(-1) }))
  await insertJobs(
    control,
    jobs.map((job) => ({ ...job, created_at: isoIn(0) })),
  )
  const rows = held.map(([entity, ms], index) => ({
    kind,
    entity,
    id: `${entity}${index}`,
    started_at: isoIn(-ms),
  }))
  const asked = new Set(ending)
  const running = {
    rows: () => rows as JobRow[],
    endTurn: ({ id }: { id: string }) => void asked.add(id),
    isEnding: ({ id }: { id: string }) => asked.has(id),
  }
  const wanted = { kind, concurrency: 4, turnMs: MINUTE_MS }
  const idleMs = await endTurns({ control, running }, wanted)
  return { asked: [...asked], idleMs }
}

const FLOOD: [string, number][] = [1, 2, 4, 3].map((minutes) => ['flood', minutes * MINUTE_MS])

describe('endTurns', () => {
  it('asks the longest attempts of the entity with the most slots, one for each entity that has fewer', async () => {
    expect((await askedOf('one', { held: FLOOD, waiting: ['flood', 'other', 'other'] })).asked).toEqual([
      'flood2',
    ])
    const both = await askedOf('two', { held: FLOOD, waiting: ['a', 'b'] })
    expect(both.asked).toEqual(['flood2', 'flood3'])
    const mixed: [string, number][] = [['a', 9e9], ...FLOOD.slice(0, 3)]
    expect((await askedOf('mixed', { held: mixed, waiting: ['b'] })).asked).toEqual(['flood3'])
    const soon: [string, number][] = [
      ['a', 2 * MINUTE_MS],
      ...FLOOD.slice(0, 3).map(([entity]): [string, number] => [entity, 10_000]),
    ]
    expect(await askedOf('soon of most', { held: soon, waiting: ['b'] })).toMatchObject({
      asked: [],
      idleMs: expect.toSatisfy((ms: number) => ms <= MINUTE_MS),
    })
  })

  it('asks none while slots are free, only their own entity waits, or enough are ending', async () => {
    expect((await askedOf('free', { held: FLOOD.slice(1), waiting: ['other'] })).asked).toEqual([])
    expect((await askedOf('own', { held: FLOOD, waiting: ['flood'] })).asked).toEqual([])
    const ending = ['flood1']
    expect((await askedOf('ending', { held: FLOOD, ending, waiting: ['other'] })).asked).toEqual(ending)
    const each: [string, number][] = ['a', 'b', 'c', 'd'].map((entity) => [entity, 2 * MINUTE_MS])
    expect((await askedOf('each', { held: each, waiting: ['a'] })).asked).toEqual([])
    expect((await askedOf('fifth', { held: each, waiting: ['e'] })).asked).toHaveLength(1)
  })

  it('says when the next turn will be over', async () => {
    const held: [string, number][] = FLOOD.map(([entity], index) => [entity, index])
    const { asked, idleMs } = await askedOf('soon', { held, waiting: ['other'] })
    expect(asked).toEqual([])
    expect(idleMs).toBeLessThanOrEqual(MINUTE_MS)
    expect((await askedOf('alone', { held, waiting: [] })).idleMs).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('an attempt whose turn has ended', () => {
  const { serve, rowOf, untilState } = useJobQueues()

  it('does not count, and its job waits behind the others', async () => {
    const seen: string[] = []
    const begun = Promise.withResolvers<void>()
    await using server = await serve({
      concurrency: 1,
      turnMs: 1,
      async handle({ id }, { turn }) {
        seen.push(id)
        if (seen.length > 1) return
        begun.resolve()
        await new Promise((resolve) => turn.addEventListener('abort', resolve))
        throw turn.reason
      },
    })
    await server.add([{ id: 'long', payload: {}, entity: 'flood' }])
    await begun.promise
    await server.add([{ id: 'next', payload: {}, entity: 'flood' }])
    await server.add([{ id: 'other', payload: {}, entity: 'other' }])
    await untilState(server.kind, 'long', 'completed')
    expect(seen).toEqual(['long', 'other', 'next', 'long'])
    expect((await rowOf(server.kind, 'long')).attempts).toBe(1)
  })
})
