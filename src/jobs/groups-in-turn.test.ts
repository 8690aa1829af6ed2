import type { KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { isoIn } from '../time.ts'
import { idsInTurn } from './groups-in-turn.ts'
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
  const wanted = { kind: 'train', running: [], ending: false }
  expect(await idsInTurn(control.withPlugin(putBack), wanted)).toEqual([])
  expect(await idsInTurn(control, wanted)).toEqual(['1'])
})
