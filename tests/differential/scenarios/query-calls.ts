import { type Ask, idOf, type Request } from '../scenario.ts'
import { finishedCall, startedCall } from './call-parts.ts'

/** How the calls of a scenario come in: the hosted service keeps the two kinds in tables of their own. */
export type Writing = 'at once' | 'in parts'

/** Writes the calls that are asked about: those below, and one that has not ended. */
export function writeCalls(project: string, ask: Ask, writing: Writing): Request[] {
  const batch = queryCalls(project)
  const open = startedCall(project, 'open', {
    started_at: '2024-01-01T00:00:08.5Z',
    inputs: { x: 2, s: 'open' },
  })
  const start = (call: object) => ({ mode: 'start', req: { start: startOf(call) } })
  const end = (call: Record<string, unknown>) => ({ mode: 'end', req: { end: endOf(call) } })
  if (writing === 'in parts')
    return [
      ask('ends', '/call/upsert_batch', { project_id: undefined, batch: batch.map(end) }),
      ask('starts', '/call/upsert_batch', { project_id: undefined, batch: [...batch, open].map(start) }),
    ]
  return [
    ask('writes', `/v2/${project}/calls/complete`, { batch }),
    ask('starts one', `/v2/${project}/call/start`, { start: open }),
  ]
}

function startOf(call: object) {
  // JSON leaves out what is undefined.
  const later = { ended_at: undefined, output: undefined, summary: undefined, exception: undefined }
  return { ...call, ...later, wb_run_step_end: undefined }
}

function endOf({
  project_id,
  id,
  ended_at,
  output,
  summary,
  exception,
  wb_run_step_end,
}: Record<string, unknown>) {
  return { project_id, id, ended_at, output, summary, exception, wb_run_step_end }
}

/** Leaves of every kind under one name, so that every operator meets every kind. */
function queryCalls(project: string) {
  const call = (name: string, second: number, fields: Record<string, unknown>) =>
    finishedCall(project, name, { started_at: `2024-01-01T00:00:0${second}.5Z`, ...fields })
  const trace_id = idOf(`${project} trace of root`)
  return [
    call('root', 1, {
      inputs: { x: 1, s: 'One', flag: true },
      display_name: 'Root',
      thread_id: 't1',
      turn_id: 'u1',
    }),
    call('child', 2, {
      trace_id,
      parent_id: idOf(`${project} root`),
      inputs: { x: 10, s: 'ten', flag: false, list: [1, 2, { a: 'b' }] },
      output: 'plain text',
      thread_id: 't1',
      turn_id: 'u2',
    }),
    call('failed', 3, {
      trace_id,
      parent_id: idOf(`${project} root`),
      inputs: { x: '9', s: null },
      exception: 'ValueError: no',
      thread_id: 't2',
    }),
    call('text', 4, { inputs: { x: 'abc', s: 'it\'s 100% \\ "so" _é😀' }, output: { r: 'yes' } }),
    call('numbers', 5, { inputs: { x: -2.5, s: '', n: 1.5e10, big: 1234567890123456 }, output: { r: 3 } }),
    call('nested', 6, {
      inputs: { x: { y: { z: 'deep' } }, 'dotted.key': 'dot', s: 'nested' },
      attributes: { env: 'prod', n: 3 },
      summary: { usage: { m: { total_tokens: 5 } }, status_counts: { success: 1, error: 2 } },
    }),
    call('refs', 9, {
      inputs: { a: { b: [`weave:///${project}/object/o:abc`] } },
      output: `weave:///${project}/object/o:def`,
      wb_run_id: `${project}/run1`,
      wb_run_step: 3,
      wb_run_step_end: 4,
    }),
    call('edge', 7, { inputs: { x: [], s: '10' }, output: [], ended_at: '2024-01-02T00:00:00.123456Z' }),
  ]
}
