import { expect, it } from 'vitest'
import { JsonText } from '../lossless-json.ts'
import type { Call } from '../trace/calls/messages/call-wire.ts'
import { candidatesOf } from './found-calls.ts'

const EMPTY = new JsonText('{}')
const CALL: Call = {
  id: 'call',
  project_id: 'a/b',
  op_name: 'op',
  display_name: null,
  trace_id: 'trace',
  parent_id: null,
  thread_id: null,
  turn_id: null,
  started_at: '2026-01-01T00:00:00Z',
  ended_at: '2026-01-01T00:00:01Z',
  exception: null,
  attributes: EMPTY,
  inputs: EMPTY,
  output: null,
  summary: EMPTY,
  wb_user_id: null,
  wb_run_id: null,
  wb_run_step: null,
  wb_run_step_end: null,
  deleted_at: null,
  expire_at: null,
  storage_size_bytes: null,
  total_storage_size_bytes: null,
}

it('has large values behind refs of few calls in memory at a time', async () => {
  const ref = 'weave:///a/b/object/large:v0'
  const value = new JsonText(JSON.stringify('x'.repeat(3 * 1024 * 1024)))
  const refs = { resolve: async () => new Map([[ref, value]]) }
  const named = { call: { ...CALL, inputs: new JsonText(JSON.stringify({ document: ref })) } }
  const found = [...Array.from({ length: 5 }, () => ({ ...named })), { call: CALL }, { call: CALL }]
  const batches = await Array.fromAsync(candidatesOf(refs, 'a/b', found))
  expect(batches.map((batch) => batch.length)).toEqual([2, 2, 3])
  expect(batches.flat().map(({ asked }) => asked.inputs.length > 1000)).toEqual([
    ...[true, true, true, true, true],
    ...[false, false],
  ])
})
