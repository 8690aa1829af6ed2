import { describe, expect, it } from 'vitest'
import type { CallContext } from '../http/caller.ts'
import { type CurationDeps, createCuration } from './service.ts'
import type { CollectReq } from './wire.ts'

/** Collects of projects without calls, whose reading ends when the test says so. */
function useCollects() {
  const reading: string[] = []
  const end = Promise.withResolvers<void>()
  const list = async ({ project_id }: { project_id: string }) => {
    reading.push(project_id)
    await end.promise
    return (async function* () {})()
  }
  const deps = { calls: { list }, refs: { resolve: async () => new Map() } }
  // The stand-ins have what is read of calls and refs.
  const { collect } = createCuration(deps as unknown as CurationDeps)
  return {
    reading,
    end: end.resolve,
    collect(entity: string, project: string, signal = new AbortController().signal): Promise<unknown> {
      const req = { entity, project, from: { calls: {} }, into: { sft: { name: 'x' } } }
      return collect(req as CollectReq, { signal } as CallContext).catch((error: unknown) => String(error))
    },
  }
}

describe('createCuration', () => {
  it('collects of one project once at a time, and of few at once', async () => {
    const { reading, end, collect } = useCollects()
    const gone = AbortSignal.abort(new Error('The client has gone'))
    const all = [
      ...[collect('a', '1'), collect('a', '1'), collect('a', '1', gone), collect('a', '2')],
      ...[collect('b', '1'), collect('c', '1'), collect('d', '1')],
    ]
    await new Promise(setImmediate)
    expect(reading).toEqual(['a/1', 'a/2', 'b/1', 'c/1'])
    end()
    const said = await Promise.all(all)
    expect(reading.slice(4).toSorted()).toEqual(['a/1', 'd/1'])
    expect(said[2]).toContain('The client has gone')
    expect(said[0]).toContain('there is no call to collect')
  })
})
