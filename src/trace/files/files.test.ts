import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { bytesDigest } from '../digest.ts'

const server = useTestServer()

function create(
  project_id: string,
  bytes: Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
): Promise<Response> {
  const form = new FormData()
  form.set('project_id', project_id)
  form.set('file', new Blob([bytes]), 'obj.py')
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return server.request('/file/create', { method: 'POST', body: form })
}

const BYTES = new Uint8Array([0, 255, 13, 10, 45, 45])

describe('POST /file/create', () => {
  it('200 with the digest, each time it is sent', async () => {
    const project = server.newProject()
    for (let times = 0; times < 2; times++) {
      const response = await create(project, BYTES)
      expect(await response.json()).toEqual({ digest: bytesDigest(BYTES) })
    }
    const stats = await server.post('/files/query_stats', { project_id: project })
    expect(await stats.json()).toEqual({ total_size_bytes: BYTES.byteLength })
  })

  it('409 for another digest than expected, and nothing is stored', async () => {
    const project = server.newProject()
    expect((await create(project, BYTES, { expected_digest: 'other' })).status).toBe(409)
    const content = await server.post('/file/content', { project_id: project, digest: bytesDigest(BYTES) })
    expect(content.status).toBe(404)
  })

  it('400 for an invalid project, 422 for a file that is a text', async () => {
    expect((await create('p', BYTES)).status).toBe(400)
    const form = new FormData()
    form.set('project_id', server.newProject())
    form.set('file', 'text')
    expect((await server.request('/file/create', { method: 'POST', body: form })).status).toBe(422)
  })

  it('422 without a file, and for a body that is not a form', async () => {
    const form = new FormData()
    form.set('project_id', server.newProject())
    expect((await server.request('/file/create', { method: 'POST', body: form })).status).toBe(422)
    expect((await server.post('/file/create', {})).status).toBe(422)
  })
})

describe('POST /file/content', () => {
  it('200 with the bytes as they were sent, the empty file too', async () => {
    const project = server.newProject()
    for (const bytes of [BYTES, new Uint8Array()]) {
      await create(project, bytes)
      const response = await server.post('/file/content', { project_id: project, digest: bytesDigest(bytes) })
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes)
    }
  })

  it("404 for another project's file and for a path", async () => {
    await create(server.newProject(), BYTES)
    for (const digest of [bytesDigest(BYTES), '../../control.sqlite']) {
      const response = await server.post('/file/content', { project_id: server.newProject(), digest })
      expect(response.status).toBe(404)
      expect(await response.json()).toEqual({ reason: `File ${digest} not found` })
    }
  })
})

describe('POST /file/create of a hostile form', () => {
  async function statusOf(form: string, type = 'multipart/form-data; boundary=X'): Promise<unknown> {
    const headers = { 'content-type': type }
    const reply = await server.request('/file/create', { method: 'POST', headers, body: form })
    return { status: reply.status, said: JSON.stringify(await reply.json()) }
  }
  const field = '--X\r\ncontent-disposition: form-data; name="a"; filename="f"\r\n\r\n1\r\n'

  it('413 for more fields, or longer headers of one, than a form has', async () => {
    expect(await statusOf(`${field.repeat(200_000)}--X--\r\n`)).toEqual({
      status: 413,
      said: expect.stringContaining('at most 100 fields'),
    })
    expect(await statusOf(`--X\r\n${'a: b\r\n'.repeat(200_000)}\r\n1\r\n--X--\r\n`)).toEqual({
      status: 413,
      said: expect.stringContaining('at most 8192 bytes'),
    })
  })

  it.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'text/plain; boundary=X',
    'multipart/form-data; boundary=Y',
    `multipart/form-data; boundary=${'X'.repeat(71)}`,
  ])('422 for a body that is no form of the type %s', async (type) => {
    expect(await statusOf(`${field}--X--\r\n`, type)).toEqual({
      status: 422,
      said: expect.stringContaining('multipart_invalid'),
    })
  })

  it('looks for the delimiter with which the form is read', async () => {
    const type = 'multipart/form-data; a="; boundary=Z"; boundary=X'
    expect(await statusOf(`${field.repeat(200)}--X--\r\n`, type)).toMatchObject({ status: 422 })
  })
})

describe('POST /files/create, /files/content and /files/stats', () => {
  it('200 as under their newer names, below /traces too', async () => {
    const project_id = server.newProject()
    const form = new FormData()
    form.set('project_id', project_id)
    form.set('file', new Blob(['hello']), "../'; DROP TABLE files")
    form.set('expected_digest', 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ')
    const made = await server.request('/traces/files/create', { method: 'POST', body: form })
    const { digest } = (await made.json()) as { digest: string }
    const content = await server.post('/files/content', { project_id, digest })
    expect(await content.text()).toBe('hello')
    const stats = await server.post('/files/stats', { project_id })
    expect(await stats.json()).toEqual({ total_size_bytes: 5 })
  })
})

describe('POST /files/query_stats', () => {
  it('200 with 0 for a project without files', async () => {
    const response = await server.post('/files/query_stats', { project_id: server.newProject() })
    expect(await response.json()).toEqual({ total_size_bytes: 0 })
  })
})
