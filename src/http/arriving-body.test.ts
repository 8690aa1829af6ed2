import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readArriving, streamArriving } from './arriving-body.ts'
import { createHeldBodies } from './held-bodies.ts'

const MINUTE_MS = 60_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] }))
afterEach(() => void vi.useRealTimers())

function read(source: PassThrough) {
  return readArriving(source, { bytesMax: 10_000_000, held: createHeldBodies().open('a') })
}

describe('readArriving', () => {
  it('408 for a body of which too little comes', async () => {
    const source = new PassThrough()
    const answer = expect(read(source)).rejects.toMatchObject({
      status: 408,
      message: 'The body arrived too slowly: 1 bytes in 20 s, and 327680 are needed',
    })
    source.write('{')
    await vi.advanceTimersByTimeAsync(21_000)
    await answer
  })

  it('200 for a body that takes long, while enough of it comes', async () => {
    const source = new PassThrough()
    const whole = read(source)
    for (let part = 0; part < 10; part++) {
      source.write(Buffer.alloc(400_000))
      await vi.advanceTimersByTimeAsync(20_000)
    }
    source.end()
    expect(await whole).toHaveLength(4_000_000)
  })

  it('499 for a client that disconnects', async () => {
    const source = new PassThrough()
    const answer = expect(read(source)).rejects.toMatchObject({ status: 499 })
    source.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }))
    await answer
  })
})

describe('a body that has broken off before it is read', () => {
  const broken = () => new PassThrough().on('error', () => {}).destroy(new Error('reset'))

  it('499 as a whole, and as a stream', async () => {
    await expect(read(broken())).rejects.toMatchObject({ status: 499 })
    await expect(streamArriving(broken()).getReader().read()).rejects.toMatchObject({ status: 499 })
  })
})

describe('streamArriving', () => {
  it('408 for a client that sends nothing, and not for one that sends slowly', async () => {
    const source = new PassThrough()
    const reader = streamArriving(source).getReader()
    for (let part = 0; part < 10; part++) {
      const next = reader.read()
      await vi.advanceTimersByTimeAsync(4 * MINUTE_MS)
      source.write('a')
      expect((await next).value).toHaveLength(1)
    }
    const silent = expect(reader.read()).rejects.toMatchObject({
      status: 408,
      message: 'Nothing of the body arrived for 300 s',
    })
    await vi.advanceTimersByTimeAsync(11 * MINUTE_MS)
    await silent
  })

  it('waits as long as its service does', async () => {
    const source = new PassThrough()
    const reader = streamArriving(source).getReader()
    source.write('a')
    await reader.read()
    source.write('b')
    await vi.advanceTimersByTimeAsync(60 * MINUTE_MS)
    source.end()
    expect((await reader.read()).value).toHaveLength(1)
    expect((await reader.read()).done).toBe(true)
  })
})
