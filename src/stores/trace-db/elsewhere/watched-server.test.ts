import { connect as connectTo, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../../eventually.ts'
import { freePort } from '../embedded/instance.ts'
import { firstOf } from '../port.ts'
import { openElsewhere } from './elsewhere.ts'
import { startTestClickHouse, type TestClickHouse } from './test-server.ts'

let server: TestClickHouse

beforeAll(async () => {
  server = await startTestClickHouse()
})
afterAll(() => server[Symbol.asyncDispose]())

/** A network in front of a server: it may pass everything on, or take everything and pass nothing on. */
async function startNetwork(to: number) {
  const sockets = new Set<Socket>()
  let isHanging = false
  const listener = createServer((client) => {
    const target = connectTo(to, '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    }
    client.on('data', (bytes) => isHanging || target.write(bytes)).on('close', () => target.destroy())
    target.on('data', (bytes) => isHanging || client.write(bytes)).on('close', () => client.destroy())
  })
  const port = await freePort()
  await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve))
  return {
    port,
    hang(value: boolean) {
      isHanging = value
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

describe('a server that takes requests and does not answer', () => {
  it('fails those in progress with 503, and further ones at once, until it answers again', async () => {
    await using network = await startNetwork(server.port)
    const log = { error: vi.fn(), warn: vi.fn() }
    const url = server.url('hanging').replace(`:${server.port}/`, `:${network.port}/`)
    const limits = { lookEveryMs: 50, answerMsMax: 500, awayMsMin: 0 }
    await using db = await openElsewhere({ url }, log, limits)
    await db.command({ sql: 'CREATE TABLE notes (id UInt64) ENGINE = MergeTree ORDER BY id', params: {} })
    network.hang(true)
    const read = firstOf(db.query({ sql: 'SELECT 1 AS one', params: {} }))
    const failing = [expect(db.insert('notes', [{ id: 1 }])), expect(read)]
    await Promise.all(failing.map(({ rejects }) => rejects.toMatchObject({ status: 503 })))
    await expect(db.insert('notes', [{ id: 2 }])).rejects.toThrow('does not answer, so nothing was stored')
    expect(log.error).toHaveBeenCalledWith(
      { url: `http://127.0.0.1:${network.port}`, reason: 'no answer within 500 ms' },
      expect.stringContaining('requests are refused'),
    )
    network.hang(false)
    await eventually(() => db.insert('notes', [{ id: 3 }]))
    const kept = db.query({ sql: 'SELECT groupArray(id) AS ids FROM notes WHERE id = 3', params: {} })
    expect(await firstOf(kept)).toEqual({ ids: [3] })
  })
})
