import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createIdentity } from '../../accounts/identity/service.ts'
import { createProjects } from '../../accounts/projects.ts'
import { createAccountsRemoval } from '../../accounts/removal/removal.ts'
import { newId } from '../../ids.ts'
import { createJobQueue } from '../../jobs/job-queue.ts'
import type { Removal } from '../../removal.ts'
import { NO_PEERS, type Peers } from '../../stores/control-db/peers.ts'
import { openTestControlDb } from '../../stores/control-db/test-database.ts'
import { SILENT } from '../../test-log.ts'
import { isoIn } from '../../time.ts'
import { defineErasureJobs } from './erasure-jobs.ts'
import * as queries from './queries.ts'
import { createErasures, type ErasuresDeps } from './service.ts'

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
  const { jobs, jobQueue } = openJobs({ untilGone: () => gone.promise, removals: [{ eraseProjects }] })
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

it('projects that another server begins while their entity is erased go too', async () => {
  const begin = (name: string) => createProjects({ control }).ensure({ entity: 'crew', name })
  const [first, late, last] = ['crew/first', 'crew/late', 'crew/last']
  const erased: string[][] = []
  const left = new Set([first])
  const removal: Removal = {
    async eraseProjects(projectIds) {
      erased.push([...projectIds])
      for (const id of projectIds) left.delete(id)
    },
    countProjects: async (projectIds) => [
      { kind: 'calls', count: projectIds.filter((id) => left.has(id)).length, bytes: 0 },
    ],
  }
  let waits = 0
  const untilGone = async (): Promise<void> => {
    waits++
    if (waits === 1) left.add(late)
    if (waits <= 2) await begin(waits === 1 ? 'late' : 'last')
  }
  const { jobs, jobQueue } = openJobs({ untilGone, removals: [removal] })
  const id = newId()
  await addErasure(id, first)
  await control
    .transaction()
    .execute((tx) => jobs.addIn(tx, [{ id, payload: { entity: 'crew', user: null } }]))
  await using _started = await jobQueue.start()
  await expect.poll(async () => (await queries.findErasure(control, id))?.gone_at).toBeTruthy()
  expect(erased).toEqual([[first], [first, late], [first, last, late]])
  expect(await createProjects({ control }).list({ entity: 'crew', after: '', limit: 9 })).toEqual([])
})

it('the names of a user and an entity are taken until their erasure ends, also when it is repeated', async () => {
  const identity = createIdentity({ control })
  const addUser = (name: string) =>
    control
      .transaction()
      .execute((tx) => identity.addUser(tx, { name, email: undefined, kind: 'person', isOperator: false }))
  await addUser('leaving')
  const forgotten = { keys: 0 }
  const accounts = createAccountsRemoval({
    control,
    identity,
    keys: { forget: () => void forgotten.keys++ },
    limits: { load: async () => undefined },
  })
  const id = newId()
  await addErasure(id, 'leaving/own')
  {
    const waiting = Promise.withResolvers<void>()
    let waits = 0
    const untilGone = (signal: AbortSignal): Promise<void> => {
      if (++waits === 1) return Promise.resolve()
      waiting.resolve()
      return once(signal, 'abort').then(() => signal.throwIfAborted())
    }
    const { jobs, jobQueue } = openJobs({ untilGone, removals: [accounts] })
    const payload = { entity: 'leaving', user: 'leaving' }
    await control.transaction().execute((tx) => jobs.addIn(tx, [{ id, payload }]))
    await using _started = await jobQueue.start()
    await waiting.promise
    await expect(addUser('leaving')).rejects.toThrow('taken')
  }
  await expect(addUser('leaving')).rejects.toThrow('taken')
  const { jobQueue } = openJobs({ untilGone: () => Promise.resolve(), removals: [accounts] })
  await using _started = await jobQueue.start()
  await expect.poll(async () => (await queries.findErasure(control, id))?.gone_at).toBeTruthy()
  await expect.poll(() => forgotten.keys).toBeGreaterThan(0)
  const again = await addUser('leaving')
  expect(await identity.userNamed('leaving')).toEqual(again)
})

it('a server that missed a whole erasure begins its projects anew', async () => {
  const projects = createProjects({ control })
  const project = { entity: 'crew', name: 'missed' }
  await projects.ensure(project)
  const changed: (() => void)[] = []
  const onChange: Peers['onChange'] = (_tables, call) => void changed.push(call)
  const deps = { control, projects, log: SILENT, peers: { ...NO_PEERS, onChange }, removals: [] }
  const jobQueue = createJobQueue({ control, log: SILENT, peers: NO_PEERS })
  // The rest serves requests, of which there are none.
  await using _started = await createErasures({
    ...deps,
    jobQueue,
  } as Partial<ErasuresDeps> as ErasuresDeps).start()
  await control.transaction().execute((tx) => createProjects({ control }).delete(tx, ['crew/missed']))
  for (const call of changed) call()
  await projects.ensureById('crew/missed')
  expect(await projects.exists(project)).toBe(true)
})

/** The jobs of a server that has just started. */
function openJobs({
  untilGone,
  removals,
}: {
  untilGone: (signal: AbortSignal) => Promise<void>
  removals: Removal[]
}) {
  const jobQueue = createJobQueue({ control, log: SILENT, peers: NO_PEERS })
  const projects = createProjects({ control })
  const mutations = { untilGone }
  const dropControlLog = (): void => undefined
  const jobs = defineErasureJobs({ control, jobQueue, projects, mutations, removals, dropControlLog })
  return { jobs, jobQueue }
}

async function addErasure(id: string, projectId = `test/${id}`): Promise<void> {
  const row = { id, kind: 'project' as const, entity: 'test', subject: projectId, requested_by: 'user' }
  const times = { requested_at: isoIn(0), unreadable_at: isoIn(0), erased_at: null, gone_at: null }
  await control.transaction().execute(async (tx) => {
    const whole = { ...row, ...times, key_id: 'key', with_data: 1 as const, amounts: null }
    await queries.insertErasure(tx, whole, [projectId])
  })
}
