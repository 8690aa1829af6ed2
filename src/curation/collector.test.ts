import { describe, expect, it, vi } from 'vitest'
import { JsonText } from '../json/lossless-json.ts'
import type { Fields } from '../testing.ts'
import { finishedCall } from '../trace/test-calls.ts'
import { WORK_MS_MAX } from '../yielding.ts'
import { type CollectorDeps, createCollector } from './collector.ts'
import { createTally } from './left-out.ts'
import { chatCall } from './test-collecting.ts'
import type { CollectReq } from './wire.ts'

/** A call as it is read. */
function read(call: Fields): Fields {
  const payloads = ['inputs', 'output', 'attributes', 'summary'] as const
  const texts = payloads.map((name) => [name, new JsonText(JSON.stringify(call[name] ?? {}))])
  return { parent_id: null, exception: null, ...call, ...Object.fromEntries(texts) }
}

/** Collects calls, all of which are there at once, into rows of conversations. */
function gathering(calls: readonly Fields[]) {
  const list = async ({ filter }: { filter?: { parent_ids?: string[] } }) =>
    (async function* () {
      const parents = filter?.parent_ids
      yield* calls.filter(({ parent_id }) => parents === undefined || parents.includes(String(parent_id)))
    })()
  const deps = { calls: { list }, refs: { resolve: async () => new Map() } }
  const req = { entity: 'a', project: 'b', from: { calls: {} }, into: { sft: { name: 'x' } } }
  const tally = createTally()
  const context = { signal: new AbortController().signal }
  // The stand-ins have what is read of calls and refs.
  const { gather } = createCollector(deps as unknown as CollectorDeps)
  const work = { req: req as CollectReq, tally, context } as Parameters<typeof gather>[0]
  return { rows: gather(work), tally }
}

describe('createCollector', () => {
  it('lets others work between the calls of a batch', async () => {
    const calls = Array.from({ length: 5 }, (_, index) => read(chatCall(`question ${index}`, 'yes')))
    // As if the work on each call took a whole turn.
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += WORK_MS_MAX))
    let turns = 0
    const count = (): void => {
      turns++
      waiting = setImmediate(count)
    }
    let waiting = setImmediate(count)
    const rows = await gathering(calls).rows
    clearImmediate(waiting)
    clock.mockRestore()
    expect(rows).toHaveLength(5)
    expect(turns).toBeGreaterThanOrEqual(10)
  })

  it('makes one conversation of a call and the model call below it', async () => {
    const app = read(finishedCall({ inputs: { question: '2+2?' }, output: '4' }))
    const agent = read(finishedCall({ inputs: { question: '2+2?' }, output: '4', parent_id: app['id'] }))
    const llm = read(chatCall('2+2?', '4', { parent_id: agent['id'] }))
    const other = read(chatCall('2+2?', '4'))
    const { rows, tally } = gathering([app, agent, llm, other])
    expect((await rows).map(({ callId }) => callId)).toEqual([app['id'], other['id']])
    expect(tally.all()).toEqual([
      { reason: 'has the same model call as another', count: 2, example_call_id: agent['id'] },
    ])
  })
})
