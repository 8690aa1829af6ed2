import { expect, it } from 'vitest'
import { JsonText } from '../../../lossless-json.ts'
import { useTestServer } from '../../../testing.ts'
import { createExpansion } from './expansion.ts'

const server = useTestServer()

it('has large values of few rows in memory at a time, and leaves the given rows as they are', async () => {
  const ref = 'weave:///a/b/object/large:v0'
  const large = JSON.stringify({ text: 'x'.repeat(3 * 1024 * 1024), inner: ref })
  const asked: number[] = []
  const resolve = async (_: string, refs: Iterable<string>) => {
    asked.push([...refs].length)
    return new Map([[ref, new JsonText(large)]])
  }
  const expansion = createExpansion({ traces: server.stores.traces, refs: { resolve } })
  const inputs = new JsonText(JSON.stringify({ model: ref }))
  const rows = Array.from({ length: 20 }, () => ({
    attributes: null,
    inputs,
    output: null,
    summary: null,
  }))
  const found = expansion.expanded('a/b', rows, ['inputs.model.inner', 'inputs.model', 'inputs.none'])
  const { value: first } = await found.next()
  expect(first.inputs.value()).toMatchObject({ model: { _ref: ref, inner: { inner: ref } } })
  // The values of the second column are looked up for the rows alone that are made at once.
  expect(asked).toEqual([20, 2])
  const others = await Array.fromAsync(found)
  expect(others).toHaveLength(19)
  expect(others.every((row) => row.inputs.text === first.inputs.text)).toBe(true)
  expect(rows.every((row) => row.inputs === inputs)).toBe(true)
})
