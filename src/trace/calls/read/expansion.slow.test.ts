import { expect, it } from 'vitest'
import { JsonText } from '../../../json/lossless-json.ts'
import { useTestServer } from '../../../testing.ts'
import { createExpansion } from './expansion.ts'

const server = useTestServer()

const ref = 'weave:///a/b/object/large:v0'

/** An expansion that reads some values, and the refs that it asked for together. */
function expansionOf(values: Record<string, object>) {
  const asked: string[][] = []
  const resolve = async (_: string, refs: Iterable<string>) => {
    const some = [...refs]
    asked.push(some)
    return new Map(some.map((one) => [one, new JsonText(JSON.stringify(values[one]))]))
  }
  return { asked, expansion: createExpansion({ traces: server.stores.traces, refs: { resolve } }) }
}

function rowOf(value: object) {
  return { attributes: null, inputs: new JsonText(JSON.stringify(value)), output: null, summary: null }
}

it('makes one row at a time with the large value that all have, and leaves the given rows as they are', async () => {
  const inner = 'weave:///a/b/object/inner:v0'
  const large = { text: 'x'.repeat(3 * 1024 * 1024), inner, same: ref }
  const { asked, expansion } = expansionOf({ [ref]: large, [inner]: { a: 1.5 } })
  const rows = Array.from({ length: 20 }, () => rowOf({ model: ref }))
  const columns = ['inputs.model.inner', 'inputs.model', 'inputs.model.same', 'inputs.none']
  const found = await Array.fromAsync(expansion.expanded('a/b', rows, columns))
  const model = { ...large, _ref: ref, inner: { a: 1.5, _ref: inner }, same: { ...large, _ref: ref } }
  expect(found[0]?.inputs.value()).toEqual({ model })
  expect(asked).toEqual([[ref], [inner]])
  expect(found).toHaveLength(20)
  expect(rows.every((row) => row.inputs.text === JSON.stringify({ model: ref }))).toBe(true)
})

it('leaves refs in a call whose values would have too many characters', async () => {
  const { expansion } = expansionOf({ [ref]: { text: 'x'.repeat(1024 * 1024) } })
  const inputs = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, ref]))
  const columns = Object.keys(inputs).map((name) => `inputs.${name}`)
  const [row] = await Array.fromAsync(expansion.expanded('a/b', [rowOf(inputs)], columns))
  expect(row?.inputs.text.length).toBeLessThan(17 * 1024 * 1024)
  const members = Object.entries(Object(row?.inputs.value()))
  expect(members.map(([name]) => name).sort()).toEqual(Object.keys(inputs).sort())
  expect(members.filter(([, value]) => value !== ref)).toHaveLength(15)
})

it('reads the values of fewer calls at a time where those of all are too large', async () => {
  const refs = Array.from({ length: 4 }, (_, index) => `weave:///a/b/object/o${index}:v0`)
  const value = { text: 'x'.repeat(6 * 1024 * 1024) }
  const { asked, expansion } = expansionOf(Object.fromEntries(refs.map((one) => [one, value])))
  const rows = refs.map((one) => rowOf({ a: one }))
  const found = await Array.fromAsync(expansion.expanded('a/b', rows, ['inputs.a']))
  expect(found.map((row) => Object(row.inputs.value()).a._ref)).toEqual(refs)
  expect(asked).toEqual([refs, refs.slice(0, 2), refs.slice(2)])
})
