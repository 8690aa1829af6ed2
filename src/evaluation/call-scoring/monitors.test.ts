import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ALL_RIGHTS } from '../../access.ts'
import { newId } from '../../ids.ts'
import { createJobQueue } from '../../jobs/job-queue.ts'
import { JsonText } from '../../json/lossless-json.ts'
import { NO_PEERS } from '../../stores/control-db/peers.ts'
import { openTestControlDb } from '../../stores/control-db/test-database.ts'
import { SILENT } from '../../test-log.ts'
import type { OnEnded } from '../../trace/calls/write/writer.ts'
import { readMonitor } from './active-monitors.ts'
import { createMonitors, type MonitorsDeps } from './monitors.ts'
import { statesIn } from './queries.ts'
import type { ScoringTasks } from './scoring-task.ts'

let control: Awaited<ReturnType<typeof openTestControlDb>>

beforeAll(async () => {
  control = await openTestControlDb()
})
afterAll(() => control[Symbol.asyncDispose]())

interface CallsQuery {
  project_id: string
  columns: string[]
  filter: { call_ids: string[] }
}

/** Monitors of projects that have one each, over calls of which `onPass` hears when they are looked at. */
async function useMonitors(
  onPass: (projectId: string, note: OnEnded) => Promise<void>,
  { problem, addIn = async () => undefined }: { problem?: string; addIn?: ScoringTasks['addIn'] } = {},
) {
  const watching = Promise.withResolvers<OnEnded>()
  const val = new JsonText(JSON.stringify({ _class_name: 'Monitor', active: true, scorers: ['x'] }))
  const published = { object_id: 'm', digest: 'v0', user: 'u', val }
  const jobQueue = createJobQueue({ control, log: SILENT, peers: NO_PEERS })
  const fake = {
    calls: {
      watchEnds: watching.resolve,
      async list({ project_id, columns, filter }: CallsQuery) {
        if (columns.includes('ended_at')) await onPass(project_id, await watching.promise)
        const times = { started_at: '2026-01-01T00:00:00Z', ended_at: '2026-01-01T00:00:01Z' }
        return (async function* () {
          for (const id of filter.call_ids) yield { project_id, id, ...times }
        })()
      },
    },
    monitorsOf: async (projectId: string) => [readMonitor(projectId, published)],
    feedback: { query: async () => ({ result: [] }) },
    scoringTasks: { addIn, wake: () => undefined },
    principals: { rightsOf: async () => ALL_RIGHTS },
    waitingScores: { ofMonitors: async () => () => ({ count: 0, problem }) },
  }
  const deps = { ...fake, control, jobQueue, peers: NO_PEERS, log: SILENT }
  // The stand-ins have what monitors use of calls, objects and feedback.
  await createMonitors(deps as unknown as MonitorsDeps).start()
  return { note: await watching.promise, jobQueue }
}

describe('monitors', () => {
  it('look at the calls of other projects though those of one end without pause', async () => {
    const passes: string[] = []
    const { note, jobQueue } = await useMonitors(async (project_id, note) => {
      passes.push(project_id)
      if (project_id !== 'busy/project' || passes.includes('quiet/project') || passes.length > 9) return
      const written = await note([{ project_id, id: newId() }])
      written()
      await vi.waitFor(async () => {
        const noted = control.selectFrom('monitored_calls').selectAll().where('pending_write', 'is not', null)
        expect((await noted.execute()).filter(({ pending_write }) => pending_write !== 'unstarted')).toEqual(
          [],
        )
      })
      if (passes.length === 1) (await note([{ project_id: 'quiet/project', id: newId() }]))()
    })
    ;(await note([{ project_id: 'busy/project', id: newId() }]))()
    await using _queue = await jobQueue.start()
    await vi.waitFor(() => expect(passes).toContain('quiet/project'), { timeout: 20_000 })
    expect(passes.indexOf('quiet/project')).toBeLessThan(3)
    await vi.waitFor(async () => {
      const left = control.selectFrom('monitored_calls').selectAll().where('pending_write', 'is', null)
      expect(await left.execute()).toEqual([])
    })
  })

  it('skip calls while too many of their scores wait, and say so', async () => {
    const passes: string[] = []
    const onPass = async (project_id: string) => void passes.push(project_id)
    const { note, jobQueue } = await useMonitors(onPass, { problem: 'too many' })
    const project_id = 'full/project'
    ;(await note([{ project_id, id: newId() }]))()
    await using _queue = await jobQueue.start()
    await vi.waitFor(
      async () =>
        expect(await statesIn(control, project_id)).toMatchObject([
          { object_id: 'm', last_error: 'too many', last_error_digest: 'v0' },
        ]),
      { timeout: 20_000 },
    )
    expect(passes).toEqual([])
  })

  it('leave out a call whose scores cannot be stored, say so, and go on with the others', async () => {
    const [good, bad] = [newId(), newId()]
    const added: string[] = []
    const addIn: ScoringTasks['addIn'] = async (_, tasks) => {
      const calls = tasks.map(({ payload }) => payload.call_id)
      if (calls.includes(bad)) throw new TypeError('such a call was not expected')
      added.push(...calls)
    }
    const { note, jobQueue } = await useMonitors(async () => undefined, { addIn })
    const project_id = 'odd/project'
    ;(await note([good, bad].map((id) => ({ project_id, id }))))()
    await using _queue = await jobQueue.start()
    const last_error = expect.stringMatching(new RegExp(`^Call ${bad} was left out: Internal server error`))
    await vi.waitFor(
      async () => expect(await statesIn(control, project_id)).toMatchObject([{ failed: 1, last_error }]),
      { timeout: 20_000 },
    )
    expect(added).toEqual([good])
    const noted = control.selectFrom('monitored_calls').select('call_id').where('project_id', '=', project_id)
    expect(await noted.execute()).toEqual([])
  })
})
