import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HAS_REPLICAS } from './replicas.ts'
import { KEY, startServer, type WireServer } from './server.ts'

const PROJECT = 'wire/durability'
const WRITERS = 16
const KILLS = 3

let server: WireServer

beforeAll(async () => {
  server = await startServer({ HEDDLE_ENGINE_PYTHON: '/nonexistent/python' })
})
afterAll(() => server[Symbol.asyncDispose]())

async function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify(body),
  })
}

async function startCall(): Promise<string> {
  const id = randomUUID()
  const start = {
    project_id: PROJECT,
    id,
    trace_id: id,
    op_name: 'op',
    started_at: new Date().toISOString(),
    attributes: {},
    inputs: { id },
  }
  const response = await post('/call/start', { start })
  expect(response.status).toBe(200)
  await response.arrayBuffer()
  return id
}

/** Writes until the server has ended; returns the acknowledged writes. */
async function writeUntilGone(): Promise<string[]> {
  const acknowledged: string[] = []
  for (;;) {
    try {
      acknowledged.push(await startCall())
    } catch {
      return acknowledged
    }
  }
}

async function storedIds(): Promise<Set<string>> {
  const response = await post('/calls/stream_query', { project_id: PROJECT, columns: ['id'] })
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  return new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id))
}

describe('kill -9 while calls are written', () => {
  it(`keeps every acknowledged call, ${KILLS} times in a row`, async () => {
    const acknowledged: string[] = []
    for (let round = 0; round < KILLS; round++) {
      const writers = Array.from({ length: WRITERS }, writeUntilGone)
      await expect.poll(async () => (await storedIds()).size).toBeGreaterThan(acknowledged.length + 50)
      await server.signal('SIGKILL')
      acknowledged.push(...(await Promise.all(writers)).flat())
      await server.start()
      const stored = await storedIds()
      expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
    }
    expect(acknowledged.length).toBeGreaterThan(100)
  })
})

describe('SIGTERM', () => {
  it('lets running requests finish, ends with status 0 within 10 s and leaves no temporary files', async () => {
    const writers = Array.from({ length: WRITERS }, writeUntilGone)
    await expect.poll(async () => (await storedIds()).size).toBeGreaterThan(50)
    const { code } = await server.signal('SIGTERM')
    const acknowledged = (await Promise.all(writers)).flat()
    // After 10 s the server itself would end with another status.
    expect(code).toBe(0)
    if (!HAS_REPLICAS) expect(await readdir(join(server.folder, 'data/blobs/.aside'))).toEqual([])
    await server.start()
    const stored = await storedIds()
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
  })
})

describe.skipIf(HAS_REPLICAS)('a second server on the same data folder', () => {
  it('does not start and names the process that holds it', async () => {
    const data = join(server.folder, 'data')
    await expect(startServer({ HEDDLE_DATA: data })).rejects.toThrow('in use by another Heddle (process')
  })
})

describe('bad input', () => {
  it('413 for a body over the limit, announced or not', async () => {
    const big = new Uint8Array(70 * 1024 * 1024)
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(1024 * 1024))
      },
    })
    for (const body of [big, stream]) {
      const init = { method: 'POST', headers: { authorization: `Bearer ${KEY}` }, body, duplex: 'half' }
      const response = await fetch(`${server.url}/call/start`, init as RequestInit).catch(
        (error: unknown) => error,
      )
      // The server may cut the connection of a client that goes on sending.
      if (response instanceof Response) expect(response.status).toBe(413)
    }
  })

  it('404 for unknown paths, without a stack trace', async () => {
    const response = await fetch(`${server.url}/no/such/path`)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ detail: 'Not Found' })
  })
})
