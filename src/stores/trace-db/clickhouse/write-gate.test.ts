import { expect, it } from 'vitest'
import { createWriteGate } from './write-gate.ts'

const LONG_MS = 60_000

it('holds new writes until the hold is over, and waits for those in progress', async () => {
  const gate = createWriteGate()
  const order: string[] = []
  const earlier = Promise.withResolvers<void>()
  const first = gate.pass(async () => {
    await earlier.promise
    order.push('earlier')
  })
  const holding = gate.hold(LONG_MS)
  const second = gate.pass(async () => {
    order.push('later')
  })
  earlier.resolve()
  {
    using hold = await holding
    order.push('held')
    expect(hold.isHeld()).toBe(true)
    await first
  }
  await second
  expect(order).toEqual(['earlier', 'held', 'later'])
})

it('ends a hold by itself, and refuses one while writes in progress take longer', async () => {
  const gate = createWriteGate()
  using hold = await gate.hold(1)
  expect(await gate.pass(async () => 'passed')).toBe('passed')
  expect(hold.isHeld()).toBe(false)
  const { promise, resolve } = Promise.withResolvers<void>()
  const slow = gate.pass(() => promise)
  await expect(gate.hold(1)).rejects.toThrow('longer than 1 ms')
  resolve()
  await slow
})

it('refuses a second hold, and passes the failure of a write on', async () => {
  const gate = createWriteGate()
  await expect(gate.pass(() => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk')
  using _hold = await gate.hold(LONG_MS)
  await expect(gate.hold(LONG_MS)).rejects.toThrow('held already')
})
