import { randomUUID } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createProjects } from '../../accounts/projects.ts'
import { createContents } from '../../contents/service.ts'
import { createArtifacts } from '../../tracking/artifacts/service.ts'
import { createSignedUrls } from '../../tracking/signed-urls.ts'
import { createTestClient } from '../../tracking/test-client.ts'
import { json, useTrainingServer } from '../use-training-server.ts'

const training = useTrainingServer()
const { server, newModel, end, steps } = training

const LINE = '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}'

const upload = (body: string | Uint8Array<ArrayBuffer>) =>
  server.request('/v1/preview/training-data', { method: 'POST', body })

const postSft = (model_id: string, training_data_url: string, config: object = {}) =>
  server.post('/v1/preview/sft-training-jobs', { model_id, training_data_url, config })

async function uploaded(lines: number): Promise<string> {
  const reply = await json<{ training_data_url: string; lines: number }>(
    await upload(`${LINE}\n`.repeat(lines)),
  )
  expect(reply.lines).toBe(lines)
  return reply.training_data_url
}

describe('POST /v1/preview/training-data and DELETE /v1/preview/training-data/{training_data_id}', () => {
  it('200 with a URL that jobs take, also after the upload is deleted', async () => {
    const url = await uploaded(3)
    const model = await newModel()
    const job = await json<{ id: string; kind: string }>(await postSft(model.id, url))
    expect(job.kind).toBe('sft')
    const id = url.split('/').at(-1)
    const remove = () => server.request(`/v1/preview/training-data/${id}`, { method: 'DELETE' })
    expect(await json(await remove())).toEqual({ deleted: true })
    expect(await json(await remove())).toEqual({ deleted: false })
    expect((await end(job.id)).filter((event) => event.type === 'gradient_step')).toHaveLength(3)
    expect(await steps(model.id)).toEqual([0, 1])
    expect((await postSft(model.id, url)).status).toBe(404)
  })

  it('keeps the upload over a restart of the server', async () => {
    const url = await uploaded(2)
    await createArtifacts({
      control: server.stores.control,
      contents: createContents(server.stores),
      projects: createProjects(server.stores),
      signedUrls: createSignedUrls(server.stores),
    }).cleanUp(Date.now())
    const model = await newModel()
    expect((await postSft(model.id, url)).status).toBe(200)
  })

  it.each([
    ['not json', 1],
    [`${LINE}\n{"messages": []}`, 2],
    [`${LINE}\n\n[]\n`, 3],
    [`${LINE}\n{"messages": [{"role": "assistant", "content": "a", "weight": 0.5}]}`, 2],
    [Buffer.from(`${LINE}\n${LINE.replace('"role"', '"r\u00f6le"')}`, 'latin1'), 2],
  ])('422 that names the line of %j', async (body, line) => {
    const response = await upload(body)
    expect(response.status).toBe(422)
    const { detail } = (await response.json()) as { detail: { loc: unknown[] }[] }
    expect(detail[0]?.loc.slice(0, 2)).toEqual(['body', String(line)])
  })

  it.each([
    ['', 'The training data has no conversation'],
    ['\n \r\n', 'The training data has no conversation'],
    [
      `${LINE}\n{"messages":[{"role":"user","content":"a","x":${'['.repeat(5_000)}${']'.repeat(5_000)}}]}`,
      'Line 2 is nested more than 1000 levels deep',
    ],
  ])('400 for what no job could train on', async (body, message) => {
    const response = await upload(body)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(message)
  })

  it('422 that says which weights there are', async () => {
    const message = { role: 'assistant', content: 'a', weight: 0.5 }
    const response = await upload(JSON.stringify({ messages: [message] }))
    expect(await response.json()).toMatchObject({ detail: [{ msg: 'Input should be 0 or 1' }] })
  })

  it('422 for many messages after the first wrong one, of which each costs time', async () => {
    const messages = [{ role: 'user', content: 'q' }, ...Array.from({ length: 1_000 }, () => ({}))]
    const response = await upload(JSON.stringify({ messages }))
    expect(response.status).toBe(422)
    const { detail } = (await response.json()) as { detail: { loc: unknown[] }[] }
    const ofMessages = detail.filter(({ loc }) => loc.includes('messages'))
    expect(ofMessages.map(({ loc }) => loc.slice(-2))).toEqual([['1', 'role']])
  })

  it('422 for more messages than a conversation has, 413 for more values than a line may have', async () => {
    const messages = Array.from({ length: 10_001 }, () => ({ role: 'user', content: 'q' }))
    expect((await upload(JSON.stringify({ messages }))).status).toBe(422)
    const response = await upload(`${LINE}\n{"messages":[${'{},'.repeat(300_000)}{}]}`)
    expect(response.status).toBe(413)
    expect(await response.text()).toContain('Line 2 has more than 500000 values')
  })
})

describe('POST /v1/preview/sft-training-jobs with an artifact', () => {
  const client = createTestClient(server)

  /** Logs these files as an artifact, and starts a job that names it by an alias. */
  async function train(files: Record<string, string>, alias: string): Promise<Response> {
    const project = server.newProject()
    const model = await newModel()
    await client.log({ project, name: 'data', aliases: ['mine'], files })
    return postSft(model.id, `wandb-artifact:///${project}/data${alias}`)
  }

  it.each([
    [{ 'train.jsonl': LINE, 'trajectories.jsonl': `${LINE}\n${LINE}` }, ':v0', 1],
    [{ 'trajectories.jsonl': `${LINE}\n${LINE}`, 'metadata.json': '{}', 'x.jsonl': '' }, ':latest', 2],
    [{ 'anything.jsonl': `${LINE}\n${LINE}\n${LINE}`, 'notes.txt': 'x' }, ':mine', 3],
    [{ 'train.jsonl': LINE }, '', 1],
  ])('200 for %j by "%s"', async (files, alias, lines) => {
    const job = await json<{ id: string }>(await train(files, alias))
    const steps = (await end(job.id)).filter((event) => event.type === 'gradient_step')
    expect(steps).toHaveLength(lines)
  })

  it('400 that lists the files where none can be meant; 404 for an unknown version', async () => {
    const refused = await train({ 'a.jsonl': LINE, 'b.jsonl': LINE }, ':v0')
    expect(refused.status).toBe(400)
    expect(await refused.text()).toMatch(/a\.jsonl, b\.jsonl/)
    expect((await train({ 'train.jsonl': LINE }, ':v1')).status).toBe(404)
  })

  it.each(['', '\n\n'])('400 for one without a conversation', async (lines) => {
    const refused = await train({ 'train.jsonl': lines }, ':v0')
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('The training data has no conversation')
  })
})

describe('POST /v1/preview/sft-training-jobs', () => {
  it('200 for a file below the folder for imports; no path leads out of it', async () => {
    const model = await newModel()
    const imports = join(training.folder, 'imports')
    mkdirSync(imports)
    const inside = join(imports, 'train.jsonl')
    writeFileSync(inside, `${LINE}\n`)
    const job = await json<{ id: string }>(await postSft(model.id, `file://${inside}`))
    expect((await end(job.id)).at(-1)?.type).toBe('training_ended')
    const link = join(imports, 'link.jsonl')
    symlinkSync(join(training.folder, 'control.sqlite'), link)
    writeFileSync(join(imports, 'blank.jsonl'), '\n')
    expect((await postSft(model.id, `file://${imports}/blank.jsonl`)).status).toBe(400)
    const outside = [
      '/etc/passwd',
      '/nowhere',
      join(training.folder, 'control.sqlite'),
      `${imports}/../control.sqlite`,
    ]
    for (const path of [...outside, link, imports, training.folder]) {
      const refused = await postSft(model.id, `file://${path}`)
      expect([refused.status, path]).toEqual([400, path])
      expect(await refused.text()).not.toContain(training.folder)
    }
    expect((await postSft(model.id, `file://${imports}/nothing.jsonl`)).status).toBe(404)
  })

  it.each([
    ['https://example.org/x.jsonl', 400],
    ['wandb-artifact:///local/proj', 400],
    ['wandb-artifact:///local/proj/nothing:v0', 404],
    [`heddle-upload:///${randomUUID()}`, 404],
    ['', 422],
  ])('refuses %j', async (url, status) => {
    const model = await newModel()
    expect((await postSft(model.id, url)).status).toBe(status)
  })

  it.each([{ batch_size: 0 }, { batch_size: 'many' }, { learning_rate: [] }, { learning_rate: -1 }])(
    '422 for the config %j',
    async (config) => {
      const model = await newModel()
      expect((await postSft(model.id, await uploaded(1), config)).status).toBe(422)
    },
  )

  it('404 for an unknown model', async () => {
    expect((await postSft(randomUUID(), await uploaded(1))).status).toBe(404)
  })
})
