import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { forEachYielding, WORK_MS_MAX } from './yielding.ts'

it('does work in order, and others run between long pieces of it', async () => {
  const order: string[] = []
  let isDone = false
  const others = (async () => {
    while (!isDone) {
      order.push('other')
      await setImmediate()
    }
  })()
  await forEachYielding(['a', 'b', 'c'], (name) => {
    order.push(name)
    const end = performance.now() + WORK_MS_MAX
    while (performance.now() < end);
  })
  isDone = true
  await others
  const own = order.filter((name) => name !== 'other')
  expect(own).toEqual(['a', 'b', 'c'])
  for (const [before, after] of [
    ['a', 'b'],
    ['b', 'c'],
  ] as const)
    expect(order.slice(order.indexOf(before), order.indexOf(after))).toContain('other')
})
