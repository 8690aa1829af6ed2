import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createProjects } from '../../accounts/projects.ts'
import { type Contents, createContents } from '../../contents/service.ts'
import { createArtifacts } from '../../tracking/artifacts/service.ts'
import { createSignedUrls } from '../../tracking/signed-urls.ts'
import { createCheckpointFiles } from '../checkpoint-files/checkpoint-files.ts'
import { group } from '../test-group.ts'
import { json, useTrainingServer } from '../use-training-server.ts'
import { createCheckpoints } from './service.ts'

const { server, newModel, startJob, end, steps, weightsOf } = useTrainingServer()

interface Details {
  step: number
  tags: string[]
  files: { name: string; size: number }[]
  merged: { files: { name: string }[] } | null
}

const at = (id: string, rest = '') => `/v1/preview/models/${id}/checkpoints${rest}`
const read = async (id: string, which: string): Promise<Details> =>
  json(await server.request(at(id, `/${which}`)))
const send = (method: string, path: string, body?: object) =>
  server.request(path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })

/** The adapters that are laid out to be served, by digest. */
const served = (): Promise<string[]> => readdir(join(server.folder, 'engine/adapters')).catch(() => [])

/** The service beside that of the server. @param change of what stores bytes */
function openCheckpoints(change: (contents: Contents) => Partial<Contents> = () => ({})) {
  const { control, workspace } = server.stores
  const all = createContents(server.stores)
  const contents = { ...all, ...change(all) }
  const projects = createProjects(server.stores)
  const artifacts = createArtifacts({
    control,
    contents,
    projects,
    signedUrls: createSignedUrls(server.stores),
  })
  const files = createCheckpointFiles({ contents, workspace })
  return { files, checkpoints: createCheckpoints({ control, contents, artifacts, files }) }
}

/** A model with this many trained steps. */
async function trained(count: number, more: object = {}) {
  const model = await newModel(undefined, more)
  for (let job = 0; job < count; job++) await end(await startJob(model.id, [group()]))
  return model
}

describe('GET /v1/preview/models/{model_id}/checkpoints/{checkpoint}', () => {
  it('200 by step, latest and version; 404 for unknown ones', async () => {
    const model = await trained(2)
    for (const which of ['2', 'step2', 'latest', 'v2']) expect((await read(model.id, which)).step).toBe(2)
    expect((await read(model.id, '0')).files.map((file) => file.name)).toEqual([
      'adapter_config.json',
      'adapter_model.safetensors',
    ])
    for (const which of ['3', 'step9', 'best', 'v9', 'nothing', '-1']) {
      expect((await server.request(at(model.id, `/${which}`))).status, which).toBe(404)
    }
  })
})

describe('GET /v1/preview/models/{model_id}/checkpoints/{checkpoint}/files/{file}', () => {
  it('200 with the bytes; 404 for another name', async () => {
    const model = await trained(1)
    const response = await server.request(at(model.id, '/1/files/adapter_model.safetensors'))
    const [, file] = (await read(model.id, '1')).files
    expect((await response.arrayBuffer()).byteLength).toBe(file?.size)
    for (const name of ['nothing', '..%2f..%2fcontrol.sqlite']) {
      expect((await server.request(at(model.id, `/1/files/${name}`))).status).toBe(404)
    }
  })
})

describe('PUT and DELETE /v1/preview/models/{model_id}/checkpoints/{checkpoint}/tags/{tag}', () => {
  it('200; a tag moves, is served, and is removed with its checkpoint', async () => {
    const model = await trained(2)
    const name = `wandb-artifact:///local/proj/${model.name}`
    expect(await json(await send('PUT', at(model.id, '/1/tags/prod')))).toMatchObject({
      tags: expect.arrayContaining(['prod']),
    })
    expect((await read(model.id, 'prod')).step).toBe(1)
    expect(await weightsOf(`${name}:prod`)).toBe('B=0+1')
    await json(await send('PUT', at(model.id, '/2/tags/prod')))
    expect(await weightsOf(`${name}:prod`)).toBe('B=0+1+1')
    expect((await read(model.id, '1')).tags).toEqual([])
    await json(await send('DELETE', at(model.id), { steps: [2] }))
    expect(await weightsOf(`${name}:prod`)).toBe(404)
    expect(await weightsOf(`${name}:latest`)).toBe('B=0+1')
    await json(await send('PUT', at(model.id, '/0/tags/first')))
    await json(await send('DELETE', at(model.id, '/0/tags/first')))
    await json(await send('DELETE', at(model.id, '/0/tags/first')))
    expect(await weightsOf(`${name}:first`)).toBe(404)
  })

  it.each(['latest', 'best', 'step3', 'v1', '12', 'a%20b', 'a%2Fb'])('422 for the tag %s', async (tag) => {
    const model = await newModel()
    expect((await send('PUT', at(model.id, `/0/tags/${tag}`))).status).toBe(422)
  })
})

describe('POST /v1/preview/models/{model_id}/fork', () => {
  const fork = (id: string, body: object) => send('POST', `/v1/preview/models/${id}/fork`, body)

  it('200: the step it had, the next one where that is taken; training goes on from it', async () => {
    const source = await trained(3)
    const target = await newModel()
    const body = { from_model: source.id, checkpoint: '2' }
    expect(await json(await fork(target.id, body))).toMatchObject({ step: 2 })
    expect(await weightsOf(`local/proj/${target.name}:step2`)).toBe('B=0+1+1')
    const named = { from_model: `local/proj/${source.name}`, checkpoint: 'step1' }
    expect(await json(await fork(target.id, named))).toMatchObject({ step: 3 })
    await end(await startJob(target.id, [group(), group()]))
    expect(await weightsOf(`local/proj/${target.name}`)).toBe('B=0+1+2')
    expect(await steps(target.id)).toEqual([0, 2, 3, 4])
  })

  it('200: the next step where it had that one and deleted it', async () => {
    const source = await trained(2)
    const target = await trained(3)
    await json(await send('DELETE', at(target.id), { steps: [2, 3] }))
    expect(await json(await fork(target.id, { from_model: source.id }))).toMatchObject({ step: 4 })
  })

  it('keeps the files of a fork whose source is deleted', async () => {
    const source = await trained(1)
    const target = await newModel()
    await json(await fork(target.id, { from_model: source.id }))
    await json(await send('DELETE', `/v1/preview/models/${source.id}`))
    expect(await weightsOf(`local/proj/${target.name}:step1`)).toBe('B=0+1')
  })

  it('frees the files that an adapter was served from once no checkpoint has it, until another one does', async () => {
    // As many steps as no other model here, so that the adapter is no other's.
    const source = await trained(4)
    const target = await newModel()
    await json(await fork(target.id, { from_model: source.id }))
    const before = await served()
    await weightsOf(`local/proj/${source.name}`)
    const [added] = (await served()).filter((digest) => !before.includes(digest))
    await json(await send('DELETE', `/v1/preview/models/${source.id}`))
    expect(await served()).toContain(added)
    await json(await send('DELETE', `/v1/preview/models/${target.id}`))
    expect(await served()).not.toContain(added)
    const again = await trained(4)
    await weightsOf(`local/proj/${again.name}`)
    expect(await served()).toContain(added)
  })

  it('404 for an unknown model or checkpoint, 422 without a source', async () => {
    const target = await newModel()
    expect((await fork(target.id, { from_model: 'local/proj/nobody' })).status).toBe(404)
    expect((await fork(target.id, { from_model: target.id, checkpoint: '7' })).status).toBe(404)
    expect((await fork(target.id, {})).status).toBe(422)
  })
})

describe('POST /v1/preview/models/{model_id}/checkpoints/{checkpoint}/merge, GET /v1/preview/models/{model_id}/checkpoints/{checkpoint}/merged/{file}', () => {
  it('200 each time, with the files to download', async () => {
    const model = await trained(1)
    for (let time = 0; time < 2; time++) {
      const made = await json<Details>(await send('POST', at(model.id, '/latest/merge')))
      expect(made.merged).toMatchObject({ logprob_gap_max: 0, files: [{ name: 'model.safetensors' }] })
    }
    const file = await server.request(at(model.id, '/1/merged/model.safetensors'))
    expect(await file.text()).toBe('B=0+1')
    expect((await send('POST', at(model.id, '/9/merge'))).status).toBe(404)
  })
})

describe('the storage of an entity', () => {
  it('counts all files of its checkpoints, and of their merged models, beside those of artifacts', async () => {
    const { checkpoints } = openCheckpoints()
    const model = await trained(1)
    const before = await checkpoints.storedBy('local')
    await json(await send('POST', at(model.id, '/latest/merge')))
    expect(await checkpoints.storedBy('local')).toBe(before + 'B=0+1'.length)
    await json(await send('DELETE', at(model.id), { steps: [1] }))
    const { files: own } = await read(model.id, '0')
    const others = own.filter((file) => !file.name.startsWith('adapter_'))
    const left = await checkpoints.storedBy('local')
    expect(left).toBeLessThanOrEqual(before)
    await json(await send('DELETE', `/v1/preview/models/${model.id}`))
    expect(await checkpoints.storedBy('local')).toBe(left - others.reduce((sum, { size }) => sum + size, 0))
    expect(await checkpoints.storedBy('another-team')).toBe(0)
  })
})

describe('the newest checkpoint at a step', () => {
  it('is that of the step, one before it where there is none, or the oldest of all', async () => {
    const { checkpoints } = openCheckpoints()
    const model = await trained(3)
    const stepAt = async (step: number) => (await checkpoints.newestAt(model.id, step))?.step
    const stepsAt = () => Promise.all([-1, 0, 1, 2, 3, 9].map(stepAt))
    expect(await stepsAt()).toEqual([0, 0, 1, 2, 3, 3])
    await json(await send('DELETE', at(model.id), { steps: [0, 2] }))
    expect(await stepsAt()).toEqual([1, 1, 1, 1, 3, 3])
    await json(await send('DELETE', at(model.id), { steps: [1] }))
    expect(await stepsAt()).toEqual([3, 3, 3, 3, 3, 3])
  })
})

describe('a merged model that cannot be stored', () => {
  it('leaves nothing of it behind', async () => {
    let added = 0
    const { files, checkpoints } = openCheckpoints(({ add }) => ({
      add: (...given) => (++added > 1 ? Promise.reject(new Error('The disk is full')) : add(...given)),
    }))
    const model = await trained(1)
    const before = await checkpoints.storedBy('local')
    const { id = '' } = (await checkpoints.newest(model.id)) ?? {}
    const folder = await files.outputFolder()
    const path = join(server.folder, 'engine', folder)
    await mkdir(path)
    for (const name of ['one', 'two']) await writeFile(join(path, name), name)
    await expect(checkpoints.addMerged(id, { folder, logprob_gap_max: 0 })).rejects.toThrow('disk is full')
    expect(added).toBe(2)
    expect(await checkpoints.storedBy('local')).toBe(before)
    const { control } = server.stores
    const sizes = await control.selectFrom('contents').select('size').where('size', '=', 3).execute()
    expect(sizes).toEqual([])
  })
})

describe('the start after a deletion that was cut off', () => {
  it('removes the artifacts of checkpoints that are deleted already', async () => {
    const model = await trained(1)
    const { control } = server.stores
    await control
      .updateTable('checkpoints')
      .set({ deleted_at: '2026-01-01T00:00:00.000Z' })
      .where('model_id', '=', model.id)
      .where('step', '=', 0)
      .execute()
    await openCheckpoints().checkpoints.sweep(0)
    const states = await control
      .selectFrom('checkpoints')
      .innerJoin('artifact_versions', 'artifact_versions.id', 'checkpoints.artifact_id')
      .select(['step', 'state'])
      .where('model_id', '=', model.id)
      .orderBy('step')
      .execute()
    expect(states).toEqual([
      { step: 0, state: 'DELETED' },
      { step: 1, state: 'COMMITTED' },
    ])
  })
})

describe('chat on :best', () => {
  const logReward = (id: string, reward: number) =>
    send('POST', `/v1/preview/models/${id}/log`, {
      split: 'val',
      trajectory_groups: [{ trajectories: [{ messages_and_choices: [], reward }] }],
    })

  it('follows the metric of the model', async () => {
    const model = await newModel()
    const name = `local/proj/${model.name}:best`
    const log = (reward: number) => logReward(model.id, reward)
    expect(await weightsOf(name)).toBe(404)
    await json(await log(0.9))
    await end(await startJob(model.id, [group()]))
    await json(await log(0.5))
    expect(await weightsOf(name)).toBe('B=0')
    await json(await log(1))
    expect(await weightsOf(name)).toBe('B=0+1')
    await json(await send('DELETE', at(model.id), { steps: [1] }))
    expect(await weightsOf(name)).toBe('B=0')
  })

  it('reads the metrics of all steps once, until the newest one changes', async () => {
    const model = await trained(2)
    const name = `local/proj/${model.name}:best`
    await json(await logReward(model.id, 0.5))
    expect(await weightsOf(name)).toBe('B=0+1+1')
    await server.stores.control
      .updateTable('checkpoints')
      .set({ metrics: JSON.stringify({ 'val/reward': 9 }) })
      .where('model_id', '=', model.id)
      .where('step', '=', 1)
      .execute()
    expect(await weightsOf(name)).toBe('B=0+1+1')
    await end(await startJob(model.id, [group()]))
    expect(await weightsOf(name)).toBe('B=0+1')
  })
})
