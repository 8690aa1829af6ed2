import { describe, expect, it } from 'vitest'
import { createProjects } from '../accounts/projects.ts'
import { createContents } from '../contents/service.ts'
import { newId } from '../ids.ts'
import { loseAnswers } from '../stores/control-db/test-lost-answers.ts'
import { createArtifacts } from '../tracking/artifacts/service.ts'
import { createSignedUrls } from '../tracking/signed-urls.ts'
import { ADAPTER_FILES, type ManifestEntry } from './checkpoint-files/checkpoint-files.ts'
import type { CheckpointsDeps } from './checkpoints/deps.ts'
import { createCheckpoints } from './checkpoints/service.ts'
import type { JobsDeps } from './jobs/deps.ts'
import { createJobs } from './jobs/service.ts'
import { createModelRegistry } from './model-registry/service.ts'
import { group } from './test-group.ts'
import { createTrainingData, type TrainingDataDeps } from './training-data/service.ts'
import { json, useTrainingServer } from './use-training-server.ts'

const { server, newModel, postJob, startJob, end } = useTrainingServer()

const LINE = '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}'

async function* bytes(text: string) {
  yield Buffer.from(text)
}

/** Loses the answer to the commit of the first job of a model; resolves with the job. */
async function postInDoubt(modelId: string, post: () => Promise<Response>): Promise<string> {
  const jobs = () =>
    server.stores.control.selectFrom('training_jobs').select('id').where('model_id', '=', modelId).execute()
  let isOver = false
  using _lost = loseAnswers(server.stores.control, async () => {
    const isLost = !isOver && (await jobs()).length > 0
    isOver ||= isLost
    return isLost
  })
  const response = await post()
  expect(response.status).toBe(503)
  expect(await response.text()).toContain('it may be stored or not')
  return (await jobs())[0]?.id ?? ''
}

/** Another job makes the queue look at once for those that wait. */
async function wake(): Promise<void> {
  const model = await newModel()
  await end(await startJob(model.id, [group()]))
}

describe('a commit that the database did not confirm', () => {
  it('leaves an RL job its trajectories', async () => {
    const model = await newModel()
    const job = await postInDoubt(model.id, () => postJob(model.id, [group()]))
    await wake()
    expect((await end(job)).at(-1)?.type).toBe('training_ended')
  })

  it('leaves an SFT job its data', async () => {
    const model = await newModel()
    const body = `${LINE}\n`
    const request = { method: 'POST', body }
    const uploaded = await json<{ id: string; training_data_url: string }>(
      await server.request('/v1/preview/training-data', request),
    )
    const { id, training_data_url } = uploaded
    const job = await postInDoubt(model.id, () =>
      server.post('/v1/preview/sft-training-jobs', { model_id: model.id, training_data_url, config: {} }),
    )
    await json(await server.request(`/v1/preview/training-data/${id}`, { method: 'DELETE' }))
    await wake()
    expect((await end(job)).at(-1)?.type).toBe('training_ended')
  })

  it('leaves a checkpoint its files', async () => {
    const { control } = server.stores
    const contents = createContents(server.stores)
    const shared = { control, contents, projects: createProjects(server.stores) }
    const artifacts = createArtifacts({ ...shared, signedUrls: createSignedUrls(server.stores) })
    const store = async (owner: string): Promise<ManifestEntry[]> => {
      const names = [...ADAPTER_FILES, 'optimizer.pt']
      return Promise.all(
        names.map(async (name) => ({
          name,
          ...(await contents.add(owner, bytes(`${owner}/${name}`), { bytesMax: 1_000 })),
        })),
      )
    }
    const files = { store } as unknown as CheckpointsDeps['files']
    const checkpoints = createCheckpoints({ control, contents, artifacts, files })
    const { id } = await newModel()
    const model = await createModelRegistry({ control }).existing(id)
    const next = { job_id: null, dataset_ref: null, metrics: {}, folder: '' }
    {
      using _lost = loseAnswers(control, async () => (await checkpoints.newest(id))?.step === 1)
      await expect(checkpoints.addNext(model, next, async () => undefined)).rejects.toMatchObject({
        status: 503,
      })
    }
    const stored = await checkpoints.newest(id)
    expect(stored?.step).toBe(1)
    expect(stored?.manifest).toHaveLength(3)
    for (const { digest } of stored?.manifest ?? []) expect(await contents.read(digest)).toBeDefined()
  })
})

/** Ids of this process may be ahead of its clock, which other tests move. */
const LATER = Date.parse('2100-01-01T00:00:00Z')

it('the sweep of jobs removes the data of those that were never accepted', async () => {
  const { control } = server.stores
  const contents = createContents(server.stores)
  const jobs = createJobs({ control, contents } as JobsDeps)
  const model = await newModel()
  const accepted = await startJob(model.id, [group()])
  const refused = newId()
  for (const id of [accepted, refused]) await contents.add(`job:${id}`, bytes(id), { bytesMax: 1_000 })
  await jobs.sweep(Date.now() - 3_600_000)
  expect(await contents.ownedBy(`job:${refused}`)).toHaveLength(1)
  await jobs.sweep(LATER)
  expect(await contents.ownedBy(`job:${refused}`)).toEqual([])
  expect(await contents.ownedBy(`job:${accepted}`)).toHaveLength(1)
})

it('the sweep of training data removes uploads that were never recorded', async () => {
  const { control } = server.stores
  const contents = createContents(server.stores)
  const trainingData = createTrainingData({ control, contents } as TrainingDataDeps)
  const request = { method: 'POST', body: `${LINE}\n` }
  const { id } = await json<{ id: string }>(await server.request('/v1/preview/training-data', request))
  const unrecorded = newId()
  await contents.add(`upload:${unrecorded}`, bytes(unrecorded), { bytesMax: 1_000 })
  await trainingData.sweep(LATER)
  expect(await contents.ownedBy(`upload:${unrecorded}`)).toEqual([])
  expect(await contents.ownedBy(`upload:${id}`)).toHaveLength(1)
})
