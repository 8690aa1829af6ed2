import { expect, it } from 'vitest'
import { JsonText } from '../json/lossless-json.ts'
import { llmBelow } from './llm-below.ts'

const EMPTY = new JsonText('{}')

/** Calls by id, with their parents, of which those called `chat…` asked a model. */
function callsOf(parents: Record<string, string>) {
  const all = Object.entries(parents).map(([id, parent_id]) => ({
    ...{ id, parent_id, attributes: EMPTY, exception: null },
    inputs: new JsonText(id.startsWith('chat') ? '{"messages":[{"role":"user","content":"hi"}]}' : '{}'),
    output: new JsonText(
      id.startsWith('chat') ? '{"choices":[{"message":{"role":"assistant","content":"yes"}}]}' : '{}',
    ),
  }))
  let queries = 0
  const list = async ({ filter }: { filter?: { parent_ids?: string[] } }) => {
    if (++queries > 10) throw new Error('it goes on for ever')
    return all.filter((call) => filter?.parent_ids?.includes(call.parent_id))
  }
  const found = (...roots: string[]) =>
    llmBelow(
      { list } as unknown as Parameters<typeof llmBelow>[0],
      { projectId: 'a/b', context: {} as Parameters<typeof llmBelow>[1]['context'] },
      all.filter(({ id }) => roots.includes(id)) as unknown as Parameters<typeof llmBelow>[2],
    )
  return { found }
}

it('ends where calls stand in a circle, and finds what is below them', async () => {
  expect(await callsOf({ own: 'own' }).found('own')).toEqual(new Map())
  const circle = { one: 'three', two: 'one', three: 'two', chat: 'three' }
  const found = await callsOf(circle).found('one', 'two')
  expect([...found.keys()].sort()).toEqual(['one', 'two'])
  expect(found.get('one')).not.toBe('several')
})
