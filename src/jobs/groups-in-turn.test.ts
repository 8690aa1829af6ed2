import type { KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { NO_PEERS } from '../stores/control-db/peers.ts'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { SILENT } from '../test-log.ts'
import { isoIn } from '../time.ts'
import { idsInTurn } from './groups-in-turn.ts'
import { createJobQueue } from './job-queue.ts'
import { insertJobs } from './queries.ts'

let control: Awaited<ReturnType<typeof openTestControlDb>>

beforeAll(async () => {
  control = await openTestControlDb()
})
afterAll(() => control[Symbol.asyncDispose]())

async function add(kind: string, id: string, state: 'waiting' | 'active'): Promise<void> {
  const row = { kind, id, state, group_key: 'model', payload: '{}', attempts: 0, attempts_max: 3 }
  await insertJobs(control, [{ ...row, run_at: isoIn(-60_000), created_at: isoIn(0) }])
}

it('gives no job of a group while an earlier one runs, also where that is put back to wait meanwhile', async () => {
  await add('train', '1', 'active')
  await add('train', '2', 'waiting')
  /** Puts the first job back after each read. */
  const putBack: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await control.updateTable('jobs').set({ state: 'waiting' }).where('id', '=', '1').execute()
      return result
    },
  }
  const wanted = { kind: 'train', running: [], ending: false, startedHere: [] }
  expect(await idsInTurn(control.withPlugin(putBack), wanted)).toEqual([])
  expect(await idsInTurn(control, wanted)).toEqual(['1'])
})

it('gives entities their turns also where no row says any more when they had the last', async () => {
  const row = { kind: 'look', state: 'waiting', payload: '{}', attempts: 0, attempts_max: 3 } as const
  const jobs = ['flood', 'flood', 'other'].map((entity, index) => ({
    entity,
    id: `${index}`,
    group_key: `${index}`,
  }))
  const [run_at, created_at] = [isoIn(-60_000), isoIn(0)]
  await insertJobs(
    control,
    jobs.map((job) => ({ ...row, ...job, run_at, created_at })),
  )
  const wanted = { kind: 'look', running: [], ending: false }
  expect(await idsInTurn(control, { ...wanted, startedHere: [] })).toEqual(['0', '2', '1'])
  const startedHere = [['flood', isoIn(0)]] as const
  expect(await idsInTurn(control, { ...wanted, startedHere })).toEqual(['2', '0', '1'])
})

it('gives the jobs of a group in the order in which they were added, whatever the clocks and ids of their servers', async () => {
  const queue = createJobQueue({ control, log: SILENT, peers: NO_PEERS })
  const work = queue.define({
    kind: 'ordered',
    payload: z.object({}),
    concurrency: 1,
    attemptsMax: 3,
    order: 'groups-in-turn',
    handle: async () => {},
    giveUp: async () => {},
  })
  const row = { kind: 'ordered', state: 'waiting', payload: '{}', attempts: 0, attempts_max: 3 } as const
  await insertJobs(control, [
    { ...row, id: 'z', group_key: 'model', run_at: isoIn(-60_000), created_at: isoIn(60_000) },
  ])
  await work.add([{ id: 'a', payload: {}, group: 'model' }])
  const wanted = { kind: 'ordered', running: [], ending: false, startedHere: [] }
  expect(await idsInTurn(control, wanted)).toEqual(['z'])
})
