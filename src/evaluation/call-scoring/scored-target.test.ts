import { describe, expect, it } from 'vitest'
import type { CallContext } from '../../http/caller.ts'
import { JsonText } from '../../json/lossless-json.ts'
import { type TargetDeps, targetOf } from './scored-target.ts'
import type { ScoringTask } from './scoring-task.ts'

const MB = 1024 * 1024

/** A call of some characters. */
function call(id: string, chars: number, inputs = '{}') {
  const output = new JsonText(JSON.stringify('x'.repeat(chars)))
  const [attributes, summary] = [new JsonText('{}'), new JsonText('{}')]
  return { id, project_id: 'a/b', inputs: new JsonText(inputs), output, attributes, summary }
}

/** What the calls of a window are scored as; all refs among their inputs lead to `value`. */
function scoring(calls: readonly { id: string }[], value = '1') {
  let reads = 0
  const list = async () =>
    (async function* () {
      for (const one of calls) {
        reads++
        yield one
      }
    })()
  const resolve = async (_: string, refs: Iterable<string>) =>
    new Map([...refs].map((ref) => [ref, new JsonText(value)]))
  const deps = { calls: { list }, refs: { resolve } }
  const window_calls = calls.map(({ id }) => id)
  const task = { project_id: 'a/b', call_id: window_calls.at(-1), window_calls, target: 'call' }
  // The stand-ins have what is read of calls and refs.
  const target = targetOf(deps as unknown as TargetDeps, task as ScoringTask, {} as CallContext)
  return { target, reads: () => reads }
}

describe('calls that are scored together', () => {
  it('are refused where they are too large, before all of them were read', async () => {
    const calls = ['1', '2', '3', '4', '5'].map((id) => call(id, 12 * MB))
    const { target, reads } = scoring(calls)
    await expect(target).rejects.toMatchObject({ status: 413 })
    expect(reads()).toBe(3)
    expect((await scoring(calls.slice(0, 2)).target)?.scored.inputs['messages']).toHaveLength(2)
  })

  it('are refused where the values of their refs are too large', async () => {
    const calls = ['1', '2', '3'].map((id) => call(id, 1, '{"row":"weave:///a/b/object/o:v"}'))
    const { target } = scoring(calls, JSON.stringify('x'.repeat(12 * MB)))
    await expect(target).rejects.toMatchObject({ status: 413 })
  })

  it('may be as large as one call is', async () => {
    expect((await scoring([call('1', 40 * MB)]).target)?.scored.output).toHaveLength(1)
  })
})
