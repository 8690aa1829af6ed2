import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { createJobQueue } from '../../jobs/job-queue.ts'
import { NO_PEERS } from '../../stores/control-db/peers.ts'
import { openTestControlDb } from '../../stores/control-db/test-database.ts'
import { SILENT } from '../../test-log.ts'
import { isoIn } from '../../time.ts'
import { defineErasureJobs } from './erasure-jobs.ts'
import * as queries from './queries.ts'

let control: Awaited<ReturnType<typeof openTestControlDb>>

beforeAll(async () => {
  control = await openTestControlDb()
})
afterAll(() => control[Symbol.asyncDispose]())

it('many erasures wait together for replaced files, and a few remove at once', async () => {
  const gone = Promise.withResolvers<void>()
  let removing = 0
  let removingMax = 0
  const eraseProjects = async (): Promise<void> => {
    removingMax = Math.max(removingMax, ++removing)
    await delay(5)
    removing--
  }
  const jobQueue = createJobQueue({ control, log: SILENT, peers: NO_PEERS })
  const jobs = defineErasureJobs({
    control,
    jobQueue,
    projects: { closed: { reopen: () => undefined } },
    mutations: { untilGone: () => gone.promise },
    removals: [{ eraseProjects }],
    dropControlLog: () => undefined,
  })
  const ids = Array.from({ length: 40 }, () => newId())
  for (const id of ids) await addErasure(id)
  await control.transaction().execute(async (tx) => {
    await jobs.addIn(
      tx,
      ids.map((id) => ({ id, payload: { entity: null, user: null } })),
    )
  })
  await using _started = await jobQueue.start()

  const having = async (column: 'erased_at' | 'gone_at'): Promise<number> =>
    (await control.selectFrom('erasures').selectAll().where(column, 'is not', null).execute()).length
  await expect.poll(() => having('erased_at')).toBe(ids.length)
  expect(await having('gone_at')).toBe(0)
  expect(removingMax).toBe(4)
  gone.resolve()
  await expect.poll(() => having('gone_at')).toBe(ids.length)
})

async function addErasure(id: string): Promise<void> {
  const row = { id, kind: 'project' as const, entity: 'test', subject: `test/${id}`, requested_by: 'user' }
  const times = { requested_at: isoIn(0), unreadable_at: isoIn(0), erased_at: null, gone_at: null }
  await control.transaction().execute(async (tx) => {
    const whole = { ...row, ...times, key_id: 'key', with_data: 1 as const, amounts: null }
    await queries.insertErasure(tx, whole, [`test/${id}`])
  })
}
