import { expect, it } from 'vitest'
import { requestGroups } from './runs.ts'

it('asks for twenty keys at once, and for fewer where their names are long', () => {
  const short = Array.from({ length: 45 }, (_, at) => `loss, part ${at}`)
  expect(requestGroups(short).map(({ length }) => length)).toEqual([20, 20, 5])
  expect(requestGroups(short).flat()).toEqual(short)
  const long = Array.from({ length: 5 }, (_, at) => `${at}${'é'.repeat(700)}`)
  expect(requestGroups(long).map(({ length }) => length)).toEqual([1, 1, 1, 1, 1])
  expect(requestGroups(['x'.repeat(20_000), 'y'])).toHaveLength(2)
  expect(requestGroups([])).toEqual([])
})
