import { expect, it } from 'vitest'
import { tooLarge } from '../errors.ts'
import { JsonText } from '../json/lossless-json.ts'
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

it('reads what refs lead to for fewer calls where all together are too large, and no less', async () => {
  const refOf = (index: number) => `weave:///a/b/object/document${index}:v0`
  const asked: number[] = []
  const resolveUpTo = (max: number) => ({
    async resolve(_project: string, refs: readonly string[]) {
      asked.push(refs.length)
      if (refs.length > max) throw tooLarge('too large')
      return new Map(refs.map((ref) => [ref, new JsonText(`"value of ${ref.slice(-12)}"`)]))
    },
  })
  const found = Array.from({ length: 5 }, (_, index) => ({
    call: { ...CALL, inputs: new JsonText(JSON.stringify({ document: refOf(index) })) },
  }))
  const batches = await Array.fromAsync(candidatesOf(resolveUpTo(2), 'a/b', found))
  expect(asked).toEqual([5, 3, 2, 1, 2])
  expect(batches.flat().map((candidate) => candidate.asked.inputs)).toEqual(
    found.map((_, index) => `{"document":"value of ${refOf(index).slice(-12)}"}`),
  )
  await expect(Array.fromAsync(candidatesOf(resolveUpTo(0), 'a/b', found))).rejects.toThrow('too large')
})

it('refuses a call whose inputs are so often the ref of a value that they would be too large, and names it', async () => {
  const ref = 'weave:///a/b/object/document:v0'
  const refs = { resolve: async () => new Map([[ref, new JsonText(JSON.stringify('x'.repeat(20_000)))]]) }
  const inputs = JSON.stringify(
    Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, ref])),
  )
  const found = [{ call: { ...CALL, id: 'of-many', inputs: new JsonText(inputs) } }]
  const refused = {
    status: 413,
    message: expect.stringContaining('inputs of call of-many lead to more than'),
  }
  await expect(Array.fromAsync(candidatesOf(refs, 'a/b', found))).rejects.toMatchObject(refused)
})
