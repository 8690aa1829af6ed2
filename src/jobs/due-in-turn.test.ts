import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { isoIn } from '../time.ts'
import { createDueInTurn } from './due-in-turn.ts'
import { countOpenBy, insertJobs, type JobRow } from './queries.ts'

let control: Awaited<ReturnType<typeof openTestControlDb>>

beforeAll(async () => {
  control = await openTestControlDb()
})
afterAll(() => control[Symbol.asyncDispose]())

/** Adds due jobs of an entity, oldest first. */
async function add(kind: string, entity: string, ids: readonly string[]): Promise<void> {
  const row = { kind, entity, state: 'waiting', payload: '{}', attempts: 0, attempts_max: 1 } as const
  await insertJobs(
    control,
    ids.map((id, index) => ({ ...row, id, run_at: isoIn(index - 60_000), created_at: isoIn(0) })),
  )
}

const idsOf = (kind: string, limit: number, running: readonly JobRow[] = []) =>
  createDueInTurn(control)({ kind, running, limit, entitySlots: limit, ending: false })

async function running(entity: string): Promise<JobRow> {
  await add('busy', entity, [entity])
  return control.selectFrom('jobs').selectAll().where('id', '=', entity).executeTakeFirstOrThrow()
}

describe('createDueInTurn', () => {
  it('gives each slot to the entity that has the fewest, in the order of its own jobs', async () => {
    await add('kind', 'flood', ['f1', 'f2', 'f3', 'f4'])
    await add('kind', 'other', ['o1', 'o2'])
    await add('kind', '', ['n1'])
    expect((await idsOf('kind', 3)).toSorted()).toEqual(['f1', 'n1', 'o1'])
    expect((await idsOf('kind', 9)).toSorted()).toEqual(['f1', 'f2', 'f3', 'f4', 'n1', 'o1', 'o2'])
    expect(await idsOf('kind', 2, [await running('flood'), await running('')])).toEqual(['o1', 'n1'])
    expect(await idsOf('nothing', 3)).toEqual([])
    expect(await countOpenBy(control, { kind: 'kind', by: 'entity', name: 'flood' })).toBe(4)
    expect(await countOpenBy(control, { kind: 'kind', by: 'key_id', name: 'x' })).toBe(0)
  })

  it('gives a single slot to one entity after the other, though all have many jobs', async () => {
    const entities = ['a', 'b', 'c', 'd', 'e']
    for (const entity of entities)
      await add(
        'single',
        entity,
        [1, 2, 3].map((n) => `${entity}${n}`),
      )
    const dueInTurn = createDueInTurn(control)
    const given: string[] = []
    for (let turn = 0; turn < 7; turn++) {
      const ids = await dueInTurn({ kind: 'single', running: [], limit: 1, entitySlots: 1, ending: false })
      given.push(...ids)
      await control.deleteFrom('jobs').where('id', 'in', ids).execute()
    }
    expect(given).toEqual(['a1', 'b1', 'c1', 'd1', 'e1', 'a2', 'b2'])
  })

  it('gives an entity no more slots than it may have, those that it has included', async () => {
    await add('limited', 'many', ['m1', 'm2', 'm3', 'm4'])
    const due = { kind: 'limited', limit: 4, entitySlots: 2, ending: false }
    const dueInTurn = createDueInTurn(control)
    expect(await dueInTurn({ ...due, running: [] })).toEqual(['m1', 'm2'])
    const one = await running('many')
    expect(await dueInTurn({ ...due, running: [one] })).toEqual(['m1'])
    expect(await dueInTurn({ ...due, running: [one, one] })).toEqual([])
  })
})
