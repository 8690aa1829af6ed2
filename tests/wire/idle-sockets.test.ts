import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEY, startServer, type WireServer } from './server.ts'

const IDLE_SOCKETS = 900
/** Together they announce more bytes than all bodies may take. */
const ANNOUNCED_BYTES = 1024 * 1024
/** Longer than the server waits for the next bytes of a body. */
const UPLOAD_MS = 25_000

let server: WireServer

beforeAll(async () => {
  server = await startServer({ HEDDLE_ENGINE_PYTHON: '/nonexistent/python' })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

/** Announces a body and sends one byte of it. */
async function idleSocket(): Promise<{ socket: Socket; answer: Promise<string> }> {
  const { hostname, port, host } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const answer = once(socket, 'data').then(([bytes]) => String(bytes))
  socket.write(
    `POST /call/start HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${ANNOUNCED_BYTES}\r\n\r\n{`,
  )
  return { socket, answer }
}

async function write(): Promise<number> {
  const start = { project_id: 'wire/idle', op_name: 'o', started_at: '2026-01-01T00:00:00Z' }
  const response = await fetch(`${server.url}/call/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ start: { ...start, attributes: {}, inputs: {} } }),
  })
  return response.status
}

// Both wait for the server's clocks, and may do so at the same time.
describe.concurrent('sockets that announce bodies and send none', () => {
  it('do not delay other requests, and get 408 and are closed', async () => {
    const sockets = await Promise.all(Array.from({ length: IDLE_SOCKETS }, idleSocket))
    const closed = sockets.map(({ socket }) => once(socket, 'close'))
    expect(await Promise.all(Array.from({ length: 20 }, write))).toEqual(Array(20).fill(200))
    for (const { answer } of sockets) {
      expect(await answer).toMatch(
        /^HTTP\/1\.1 408 .*"reason":"The body arrived too slowly: 1 bytes in 20 s/s,
      )
    }
    await Promise.all(closed)
    expect(await write()).toBe(200)
  })
})

describe.concurrent('a streamed upload that is slow', () => {
  it('200 when it is complete', async () => {
    const upload = request(`${server.url}/v1/preview/training-data`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/jsonl' },
    })
    const replied = once(upload, 'response')
    const line = '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n'
    for (const part of line) {
      upload.write(part)
      await new Promise((wake) => setTimeout(wake, UPLOAD_MS / line.length))
    }
    upload.end()
    const [response] = await replied
    expect(response.statusCode).toBe(200)
    response.resume()
  })
})
