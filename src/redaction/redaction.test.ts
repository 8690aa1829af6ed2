import { describe, expect, it } from 'vitest'
import { documentsOf, type Fields, replyOf, useTestServer } from '../testing.ts'
import { finishedCall, writeCalls } from '../trace/test-calls.ts'
import type { RedactionRes, RedactionTestRes, Rule } from './wire.ts'

const server = useTestServer({ recentCallsBytes: 1024 * 1024 })

const EMAIL: Rule = { name: 'mails', match: 'builtin', builtin: 'email', action: 'mask' }
const PASSWORD: Rule = { name: 'passwords', match: 'key', keys: ['password'], action: 'drop' }
const TICKET: Rule = { name: 'tickets', match: 'pattern', pattern: 'T-\\d+', action: 'hash' }

async function put(project: string, rules: readonly object[], query = ''): Promise<Response> {
  return server.request(`/v2/${project}/redaction${query}`, {
    method: 'PUT',
    body: JSON.stringify({ rules }),
  })
}

async function rulesOf(project: string): Promise<RedactionRes> {
  return replyOf(await server.request(`/v2/${project}/redaction`))
}

async function callsOf(project_id: string): Promise<Fields[]> {
  return documentsOf(await server.post('/calls/stream_query', { project_id }))
}

describe('GET and PUT /v2/{entity}/{project}/redaction', () => {
  it('200 with the rules, which hold for the next request, and with their hits', async () => {
    const project = server.newProject()
    expect(await rulesOf(project)).toEqual({
      ...{ rules: [], hits: [], updated_at: null },
      version: expect.any(String),
    })
    const inputs = { password: 'x', to: ['me@x.org', 'T-1 and T-1'] }
    await writeCalls(server, project, [finishedCall({ inputs })])
    expect(await replyOf(await put(project, [EMAIL, PASSWORD, TICKET]))).toMatchObject({
      rules: [EMAIL, PASSWORD, TICKET],
    })
    await writeCalls(server, project, [finishedCall({ inputs, exception: 'no mail to me@x.org' })])
    const [before, after] = await callsOf(project)
    expect(before?.['inputs']).toEqual(inputs)
    const hash = expect.stringMatching(/^(\[hash:[0-9a-f]{32}\]) and \1$/) as string
    expect(after).toMatchObject({ inputs: { to: ['[redacted]', hash] }, exception: 'no mail to [redacted]' })
    expect(after?.['inputs']).not.toHaveProperty('password')
    expect((await rulesOf(project)).hits).toEqual([
      { rule: 'mails', hits: 2 },
      { rule: 'passwords', hits: 1 },
      { rule: 'tickets', hits: 2 },
    ])
    await put(project, [EMAIL])
    expect((await rulesOf(project)).hits).toEqual([{ rule: 'mails', hits: 2 }])
  })

  it('409 for another version than the stored one, which stays', async () => {
    const project = server.newProject()
    const { version } = await rulesOf(project)
    const changed = await replyOf<RedactionRes>(await put(project, [EMAIL], `?if_version=${version}`))
    const refused = await put(project, [TICKET], `?if_version=${version}`)
    expect(refused.status).toBe(409)
    expect(await refused.json()).toEqual({ reason: expect.stringContaining('changed after they were read') })
    expect(await rulesOf(project)).toEqual(changed)
    expect((await put(project, [TICKET], `?if_version=${changed.version}`)).status).toBe(200)
  })

  it('200 without rules stores what is sent again', async () => {
    const project = server.newProject()
    await put(project, [EMAIL])
    await put(project, [])
    await writeCalls(server, project, [finishedCall({ output: 'me@x.org' })])
    expect(await callsOf(project)).toMatchObject([{ output: 'me@x.org' }])
    const path = `/project/sensitive_data_settings?project_id=${encodeURIComponent(project)}`
    expect(await replyOf(await server.request(path))).toEqual({ policy: 'off' })
    await put(project, [EMAIL])
    expect(await replyOf(await server.request(path))).toEqual({ policy: 'pii-v1' })
  })

  it.each([
    [{ ...TICKET, pattern: '(?=x)' }, 'Rule tickets: '],
    [{ ...TICKET, pattern: 'x*' }, 'Rule tickets: the pattern matches the empty text'],
    [{ name: 'p', match: 'path', path: '$.inputs', action: 'mask' }, 'Rule p: a path names something'],
  ])('400 that names the rule: %j', async (rule, reason) => {
    const refused = await put(server.newProject(), [EMAIL, rule])
    expect(refused.status).toBe(400)
    expect(await refused.json()).toEqual({ reason: expect.stringContaining(reason) })
  })

  it.each([
    { ...EMAIL, action: 'hide' },
    { ...EMAIL, name: 'a b' },
    { ...EMAIL, match: 'word' },
    { ...PASSWORD, keys: [] },
  ])('422 that names the place of the rule: %j', async (rule) => {
    const refused = await put(server.newProject(), [TICKET, rule])
    expect(refused.status).toBe(422)
    const { detail } = (await refused.json()) as { detail: { loc: string[] }[] }
    expect(detail.map(({ loc }) => loc.slice(0, 3))).toEqual([['body', 'rules', '1']])
  })
})

describe('POST /v2/{entity}/{project}/redaction/test', () => {
  async function tested(project: string, body: object): Promise<RedactionTestRes> {
    return replyOf(await server.post(`/v2/${project}/redaction/test`, body))
  }

  it('200 with a redacted text or JSON and the hits, by given rules or those of the project', async () => {
    const project = server.newProject()
    expect(await tested(project, { text: 'to me@x.org', rules: [EMAIL, PASSWORD] })).toEqual({
      text: 'to [redacted]',
      json: null,
      hits: [
        { rule: 'mails', hits: 1 },
        { rule: 'passwords', hits: 0 },
      ],
    })
    const sample = { json: { a: 1.5, to: 'me@x.org' }, document: 'output' }
    expect(await tested(project, sample)).toEqual({ text: null, json: sample.json, hits: [] })
    await put(project, [EMAIL])
    expect(await tested(project, sample)).toMatchObject({ json: { a: 1.5, to: '[redacted]' } })
    expect((await rulesOf(project)).hits).toEqual([{ rule: 'mails', hits: 0 }])
  })

  it('400 for no sample, or two', async () => {
    const path = `/v2/${server.newProject()}/redaction/test`
    expect((await server.post(path, {})).status).toBe(400)
    expect((await server.post(path, { text: 'a', json: 1 })).status).toBe(400)
  })
})

describe('redaction', () => {
  it('keeps the digests that clients compute, and what files of other projects hold', async () => {
    const [redacted, other] = [server.newProject(), server.newProject()]
    await put(redacted, [EMAIL])
    const digests = []
    for (const project_id of [other, redacted]) {
      const obj = { project_id, object_id: 'o', val: { to: 'me@x.org' } }
      const object = await replyOf(await server.post('/obj/create', { obj }))
      const rows = [{ to: 'me@x.org' }]
      const table = await replyOf(await server.post('/table/create', { table: { project_id, rows } }))
      const form = new FormData()
      form.set('project_id', project_id)
      form.set('file', new Blob(['to me@x.org']), 'obj.py')
      const file = await replyOf(await server.request('/file/create', { method: 'POST', body: form }))
      const content = await server.post('/file/content', { project_id, digest: file['digest'] })
      const mail = project_id === redacted ? '[redacted]' : 'me@x.org'
      expect(await content.text()).toBe(`to ${mail}`)
      const version = { project_id, object_id: 'o', digest: object['digest'] }
      expect(await replyOf(await server.post('/obj/read', version))).toMatchObject({
        obj: { val: { to: mail } },
      })
      const read = await server.post('/table/query', { project_id, digest: table['digest'] })
      expect(await replyOf(read)).toMatchObject({ rows: [{ val: { to: mail } }] })
      digests.push([object['digest'], table['digest'], file['digest']])
    }
    expect(digests[0]).toEqual(digests[1])
  })

  it('makes refs and truncated copies of what is stored', async () => {
    const project_id = server.newProject()
    await put(project_id, [{ ...PASSWORD, keys: ['secret_ref'] }])
    const ref = (name: string) => `weave:///${project_id}/object/${name}:abc`
    const inputs = { secret_ref: ref('hidden'), ref: ref('shown'), long: 'x'.repeat(10_000) }
    await writeCalls(server, project_id, [finishedCall({ inputs })])
    const found = (input_refs: string[]) =>
      server.post('/calls/stream_query', { project_id, filter: { input_refs } })
    expect(await documentsOf(await found([inputs.ref]))).toHaveLength(1)
    expect(await documentsOf(await found([inputs.secret_ref]))).toHaveLength(0)
  })
})
