import { expect, it } from 'vitest'
import { changeByKeys, hasOneOf, KEYS_AT_ONCE, type Key } from './keyed-changes.ts'

const { signal } = new AbortController()

/** Changes what queries find one after the other, and notes the keys of each change. */
async function changesOf(...found: Key<'id'>[][]): Promise<number[]> {
  const changes: number[] = []
  async function* query<Row>() {
    // What a query returns is the test's.
    yield* (found.shift() ?? []) as Row[]
  }
  const change = async (keys: readonly Key<'id'>[]) => void changes.push(keys.length)
  await changeByKeys({ query }, { sql: '', params: {} }, change, signal)
  expect(found).toEqual([])
  return changes
}

const keys = (count: number, chars: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `${index}`.padEnd(chars) }))

it('lists as many keys in a change as a statement may have, and one that is longer alone', async () => {
  expect(await changesOf(keys(5, 36))).toEqual([5])
  expect(await changesOf(keys(5, 200_000))).toEqual([2, 2, 1])
  expect(await changesOf([...keys(1, 36), ...keys(1, 600_000), ...keys(1, 36)])).toEqual([1, 1, 1])
  expect(await changesOf([])).toEqual([])
})

it('asks again until a query finds fewer keys than it may', async () => {
  const changes = await changesOf(keys(KEYS_AT_ONCE, 1), keys(3, 1))
  expect(changes.reduce((sum, count) => sum + count)).toBe(KEYS_AT_ONCE + 3)
})

it('makes a condition of expressions and a list of each', () => {
  expect(
    hasOneOf({ a: 'a', b: 'lower(b)' }, [
      { a: '1', b: '2' },
      { a: '3', b: '4' },
    ]),
  ).toEqual({
    where: '(a, lower(b)) IN arrayZip({keys_a:Array(String)}, {keys_b:Array(String)})',
    params: { keys_a: ['1', '3'], keys_b: ['2', '4'] },
  })
})
