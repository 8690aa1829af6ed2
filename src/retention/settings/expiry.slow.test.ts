import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMutations } from '../../stores/trace-db/mutations.ts'
import { filesWith } from '../../test-files.ts'
import { replyOf } from '../../testing.ts'
import { finishedCall, writeCalls } from '../../trace/test-calls.ts'
import { createRunClient } from '../../tracking/runs/run-client.ts'
import { createTestClient } from '../../tracking/test-client.ts'
import { group } from '../../training/test-group.ts'
import { useTrainingServer } from '../../training/use-training-server.ts'

/** The database removes files of parts that were replaced some 40 s later. */
vi.setConfig({ testTimeout: 900_000 })

const training = useTrainingServer()
const { server } = training
const NO_SIGNAL = new AbortController().signal
const DAY_MS = 86_400_000

afterEach(() => {
  vi.useRealTimers()
})

/** What the upkeep does after some days. */
async function runIn(days: number): Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * DAY_MS })
  await server.upkeep.run(NO_SIGNAL)
  vi.useRealTimers()
}

function callAt(days: number) {
  const at = new Date(Date.now() + days * DAY_MS).toISOString()
  return finishedCall({ started_at: at, ended_at: at })
}

async function keep(project: string, days: Record<string, number>): Promise<void> {
  await replyOf(
    await server.request(`/v2/${project}/retention`, { method: 'PUT', body: JSON.stringify(days) }),
  )
}

describe('PUT /v2/{entity}/{project}/retention, and then the upkeep', () => {
  it('200: files go with their bytes, unless another project has the same', async () => {
    const [project, other] = [server.newProject(), server.newProject()]
    const send = async (project_id: string, text: string): Promise<string> => {
      const form = new FormData()
      form.set('project_id', project_id)
      form.set('file', new Blob([text]), 'name')
      const { digest } = await replyOf(await server.request('/file/create', { method: 'POST', body: form }))
      return String(digest)
    }
    const content = async (project_id: string, digest: string) =>
      (await server.post('/file/content', { project_id, digest })).status
    const [alone, shared] = [await send(project, 'onlyhereinthisfile'), await send(project, 'inbothprojects')]
    await send(other, 'inbothprojects')
    await keep(project, { files: 3 })
    await runIn(2)
    expect(await content(project, alone)).toBe(200)
    await runIn(4)
    expect([await content(project, alone), await content(project, shared)]).toEqual([404, 404])
    expect(await content(other, shared)).toBe(200)
    expect(await filesWith(server.folder, 'onlyhereinthisfile')).toEqual([])
  })

  it('200: feedback goes with its call, or once it is as old itself; that on other things stays', async () => {
    const [project, other] = [server.newProject(), server.newProject()]
    const [old, young] = [callAt(-20), callAt(0)]
    await writeCalls(server, project, [old, young])
    await writeCalls(server, other, [old])
    const say = async (project_id: string, weave_ref: string, note: string) => {
      const feedback = { project_id, weave_ref, feedback_type: 'note', payload: { note } }
      await replyOf(await server.post('/feedback/create', feedback))
    }
    const notes = async (project_id: string) => {
      const { result } = await replyOf(await server.post('/feedback/query', { project_id }))
      return (result as { payload: { note: string } }[]).map(({ payload }) => payload.note).sort()
    }
    await say(project, `weave:///${project}/call/${old.id}`, 'old')
    await say(project, `weave:///${project}/call/${young.id}`, 'young')
    await say(project, `weave:///${project}/object/thing:abc`, 'thing')
    await say(other, `weave:///${other}/call/${old.id}`, 'other')
    await keep(project, { calls: 10 })
    await runIn(0)
    expect(await notes(project)).toEqual(['thing', 'young'])
    // Of a monitor that scored the call while it went.
    await say(project, `weave:///${project}/call/${old.id}`, 'late')
    await runIn(9)
    expect(await notes(project)).toEqual(['late', 'thing', 'young'])
    await runIn(12)
    expect(await notes(project)).toEqual(['thing'])
    expect(await notes(other)).toEqual(['other'])
  })

  it('200: metrics and lines of runs go by their own days, and the run stays', async () => {
    const client = createTestClient(server)
    const runs = createRunClient(server, client)
    const project = server.newProject()
    await runs.start(project, 'r')
    const at = Date.now() / 1000
    await runs.stream(project, 'r', runs.history(0, [{ _step: 0, _timestamp: at, loss: 1 }]))
    const content = [`${new Date().toISOString()} a line`]
    await runs.stream(project, 'r', { files: { 'output.log': { offset: 0, content } } })
    const stored = () =>
      runs.runOf(project, 'r', 'name history(samples: 5) logLines(first: 5) { edges { node { line } } }')
    await keep(project, { run_logs: 2, run_metrics: 5 })
    await runIn(3)
    expect(await stored()).toMatchObject({
      name: 'r',
      history: [expect.any(String)],
      logLines: { edges: [] },
    })
    await runIn(6)
    expect(await stored()).toMatchObject({ name: 'r', history: [] })
  })

  it('200: trajectories of ended jobs go, and the checkpoints that they made stay', async () => {
    const model = await training.newModel()
    const job = await training.startJob(model.id, [group()])
    await training.end(job)
    const stored = () => training.batches().filter((name) => name.includes(job)).length
    expect(stored()).toBe(1)
    await keep('local/proj', { trajectories: 7 })
    await runIn(6)
    expect(stored()).toBe(1)
    await runIn(8)
    expect(stored()).toBe(0)
    expect(await training.steps(model.id)).toEqual([0, 1])
    expect(await training.weightsOf(`local/proj/${model.name}`)).not.toBe(404)
  })
})

describe('DELETE /v2/{entity}/{project}', () => {
  it('200: models with their checkpoints and jobs, runs and artifacts go, and nothing of them is on the disk', async () => {
    const client = createTestClient(server)
    const runs = createRunClient(server, client)
    const marker = 'lkjhgfdsamnbvcxzpoiuytre'
    const project = `local/doomed`
    const model = await training.newModel('gone', { project: 'doomed' })
    const trained = group()
    Object.assign(trained, { metadata: { marker } })
    await training.end(await training.startJob(model.id, [trained]))
    await runs.start(project.replace('local/', 'test/'), 'r')
    await client.mutate('upsertBucket', 'bucket { id }', {
      entityName: 'local',
      modelName: 'doomed',
      name: 'r',
      config: JSON.stringify({ marker: { value: marker } }),
    })
    await client.log({ entity: 'local', project: 'doomed', name: 'data', files: { 'a.txt': marker } })
    expect(await training.weightsOf(`local/doomed/gone`)).not.toBe(404)

    const receipt = await replyOf(await server.request(`/v2/${project}`, { method: 'DELETE' }))
    expect(await training.weightsOf('local/doomed/gone')).toBe(404)
    const done = await vi.waitFor(
      async () => {
        const erasure = await replyOf(await server.request(`/v1/accounts/erasures/${receipt['id']}`))
        expect(erasure['state']).toBe('done')
        return erasure
      },
      { timeout: 600_000, interval: 500 },
    )
    const amounts = done['amounts'] as { kind: string; count: number }[]
    const counts = Object.fromEntries(amounts.map(({ kind, count }) => [kind, count]))
    expect(counts).toMatchObject({ models: 1, training_jobs: 1, runs: 1 })
    const found = await server.request(`/v1/preview/models/${model.id}`)
    expect(found.status).toBe(404)
    await createMutations(server.stores.traces).untilGone(NO_SIGNAL)
    expect(await filesWith(server.folder, marker)).toEqual([])
    expect(await training.steps((await training.newModel('gone', { project: 'doomed' })).id)).toEqual([0])
  })
})
