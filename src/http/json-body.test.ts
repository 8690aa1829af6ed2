import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { stringify } from '../json/lossless-json.ts'
import { WORK_MS_MAX } from '../yielding.ts'
import { jsonBody } from './json-body.ts'

it('is the text of a small value', async () => {
  expect(await jsonBody({ a: ['é'] })).toBe('{"a":["é"]}')
})

it('is the bytes of a large value, and others run between its parts', async () => {
  let turns = 0
  let isDone = false
  const others = (async () => {
    while (!isDone) {
      turns++
      await setImmediate()
    }
  })()
  const slow = (text: string) => ({
    toJSON() {
      const end = performance.now() + WORK_MS_MAX
      while (performance.now() < end);
      return text
    },
  })
  const list = Array.from({ length: 5 }, () => slow('é'.repeat(70_000)))
  const body = await jsonBody({ list })
  const turnsMeanwhile = turns
  isDone = true
  await others
  expect(Buffer.from(body).equals(Buffer.from(stringify({ list })))).toBe(true)
  expect(turnsMeanwhile).toBeGreaterThanOrEqual(5)
})
