import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../../test-eventually.ts'
import { connectToNode } from './connection.ts'

const HELLO = frame('h', JSON.stringify({ host: '127.0.0.1', port: 1, package: '/package' }))

const closing: (() => void)[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const close of closing.splice(0)) close()
})

function frame(kind: string, body: string): Buffer {
  const header = Buffer.alloc(5)
  header.write(kind, 'latin1')
  header.writeUInt32BE(Buffer.byteLength(body), 1)
  return Buffer.concat([header, Buffer.from(body)])
}

/** A node that does what a test says with each connection; resolves with its port. */
async function node(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    closing.push(() => socket.destroy())
    serve(socket)
  })
  closing.push(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function connect(port: number, signal = new AbortController().signal) {
  return connectToNode({ host: '127.0.0.1', port, key: 'key' }, signal)
}

/** How a connection ends whose node does something after it was told what to run. */
async function endOf(
  then: (socket: Socket) => void,
): Promise<{ how: string; isLost: boolean; output: string }> {
  const port = await node((socket) => {
    socket.once('data', () => {
      socket.write(HELLO)
      socket.once('data', () => then(socket))
    })
  })
  const connection = await connect(port)
  return new Promise((resolve) => {
    let output = ''
    connection.start(
      { args: [], env: {}, workspace: '/', marker: '' },
      {
        onOutput(_stream, bytes) {
          output += bytes.toString()
        },
        onEnd: (end) => resolve({ ...end, output }),
      },
    )
  })
}

describe('a connection to a node', () => {
  it('presents the key first, and passes frames on however they are cut', async () => {
    const received: Buffer[] = []
    const port = await node((socket) => socket.on('data', (chunk) => received.push(chunk)).write(HELLO))
    expect((await connect(port)).place).toEqual({ host: '127.0.0.1', port: 1, package: '/package' })
    await eventually(() => expect(Buffer.concat(received)).toEqual(frame('k', 'key')))
    const cut = Buffer.concat([
      frame('o', 'a'),
      frame('b', ''),
      frame('o', 'bc'),
      frame('x', '{"how":"exit code 0"}'),
    ])
    const end = await endOf(async (socket) => {
      for (const byte of cut) {
        socket.write(Buffer.of(byte))
        await new Promise(setImmediate)
      }
    })
    expect(end).toEqual({ how: 'exit code 0', isLost: false, output: 'abc' })
  })

  it.each([
    ['closes', (socket: Socket) => socket.end(), 'the connection to the node broke'],
    ['resets', (socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    ['sends no frames', (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request'), 'it sent a frame of'],
    ['sends no JSON', (socket: Socket) => socket.write(frame('x', '{')), 'no message: {'],
  ])('is lost when the node %s', async (_, then, how) => {
    expect(await endOf(then)).toMatchObject({ isLost: true, how: expect.stringContaining(how) })
  })

  it('is lost when nothing is heard of the node', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const end = await endOf(() => void vi.advanceTimersByTimeAsync(30_000))
    expect(end).toMatchObject({ isLost: true, how: 'nothing was heard of the node for 20 s' })
  })

  it.each([
    ['closes it', (socket: Socket) => socket.destroy(), /cannot use 127.0.0.1:\d+.*(closed|ECONNRESET)/],
    [
      'greets with something else',
      (socket: Socket) => socket.write(frame('h', '{}')),
      /cannot use.*no message: {}/,
    ],
  ])('cannot be made when the node %s', async (_, serve, reason) => {
    const port = await node(serve)
    await expect(connect(port)).rejects.toThrow(reason)
  })

  it('cannot be made when the node does not answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const port = await node((socket) => socket.once('data', () => void vi.advanceTimersByTimeAsync(11_000)))
    await expect(connect(port)).rejects.toThrow('no answer within 10 s')
  })

  it('is not made for one who no longer wants it', async () => {
    const wanting = new AbortController()
    const port = await node(() => wanting.abort(new Error('it was stopped')))
    await expect(connect(port, wanting.signal)).rejects.toThrow('it was stopped')
    await expect(connect(port, wanting.signal)).rejects.toThrow('it was stopped')
  })
})
