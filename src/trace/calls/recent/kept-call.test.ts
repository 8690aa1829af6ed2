import { describe, expect, it } from 'vitest'
import { createKeptCall, forgetEvicted } from './kept-call.ts'
import { createPayloadSlabs } from './payload-slabs.ts'

describe('a call that is evicted', () => {
  it('keeps its id and its start alone, which its place in the order is known by', () => {
    const slabs = createPayloadSlabs()
    const started_at = '2026-01-01T00:00:00.000000Z'
    const row = { project_id: 'me/project', id: 'one', has_start: 1 as const, trace_id: 'trace', started_at }
    const texts = { op_name: 'op', exception: 'x'.repeat(300_000), inputs: '{}' }
    const call = createKeptCall({ ...row, ...texts }, { slabs, share: (text) => text })
    forgetEvicted(call, slabs)
    expect(Object.entries(call.texts).filter(([, text]) => text !== undefined)).toEqual([
      ['started_at', started_at],
    ])
    expect([call.id, call.isEvicted, slabs.bytes()]).toEqual(['one', true, 0])
  })
})
