import { expect, it } from 'vitest'
import { rowsOf } from '../../../stores/trace-db/port.ts'
import { readOn } from './read-on.ts'

it('reads to the end while nothing is taken', async () => {
  const ended = Promise.withResolvers<void>()
  async function* source(): AsyncGenerator<number> {
    yield* [1, 2, 3]
    ended.resolve()
  }
  const pieces = readOn(source())
  await ended.promise
  expect(await rowsOf(pieces)).toEqual([1, 2, 3])
})

it('gives a piece before the next one is there', async () => {
  const second = Promise.withResolvers<number>()
  async function* source(): AsyncGenerator<number> {
    yield 1
    yield await second.promise
  }
  const pieces = readOn(source())
  expect(await pieces.next()).toEqual({ value: 1, done: false })
  second.resolve(2)
  expect(await rowsOf(pieces)).toEqual([2])
})

it('fails as its source does, after the pieces before', async () => {
  async function* source(): AsyncGenerator<number> {
    yield 1
    throw new Error('broken')
  }
  const pieces = readOn(source())
  expect(await pieces.next()).toEqual({ value: 1, done: false })
  await expect(pieces.next()).rejects.toThrow('broken')
})
