import { describe, expect, it } from 'vitest'
import { newId } from '../../../ids.ts'
import { rowsOf } from '../../../stores/trace-db/port.ts'
import { wholeRows } from '../../../stores/trace-db/row-binary.ts'
import { wholeLines } from '../../../stores/trace-db/whole-lines.ts'
import { type Fields, replyOf, useTestServer } from '../../../testing.ts'
import { finishedCall, writeCalls } from '../../test-calls.ts'
import type { ShownCalls } from '../read/list.ts'
import { selectLines, selectRows } from '../read/queries.ts'
import { PAYLOADS } from '../sql/table.ts'
import { finishLines } from './by-database.ts'
import { renderRows } from './by-server.ts'

const server = useTestServer()

/** Every control character, quotes, a backslash, and characters that some writers of JSON escape. */
const ODD_TEXT = `${String.fromCharCode(...Array.from({ length: 32 }, (_, code) => code))}"\\/\u007f\u2028é😀\${id:JSON}`

const ODD_CALLS: Fields[] = [
  { op_name: ODD_TEXT, display_name: ODD_TEXT, exception: ODD_TEXT, thread_id: ODD_TEXT, turn_id: ODD_TEXT },
  { op_name: 'weave:///e/p/op/say \u00e4 "it":v1', parent_id: newId(), wb_run_id: `r${ODD_TEXT}` },
  { started_at: '1970-01-01T00:00:00.000001Z', ended_at: '2200-11-20T17:46:39.999999Z', wb_run_step: 0 },
  { started_at: '2026-01-01T00:00:01Z', ended_at: '2026-01-01T00:00:00.9999Z', exception: '' },
  { wb_run_step: 2 ** 53 - 1, wb_run_step_end: 7, summary: { status_counts: { error: 2 }, a: '{' } },
  {
    inputs: { text: ODD_TEXT },
    output: [],
    attributes: { '': {} },
    summary: { weave: { status: 'mine', own: [1] } },
  },
  { summary: { weave: null, text: '}}\n"weave":' }, output: 'null' },
  { summary: { deep: { weave: 1 } }, output: 1e300 },
]

const SHOWN: ShownCalls = {
  order: [
    { field: 'started_at', direction: 'asc' },
    { field: 'id', direction: 'asc' },
  ],
  payloads: PAYLOADS,
  storageSize: 'without',
  totalStorageSize: 'without',
  usernames: 'without',
}

describe('calls as the database writes them', () => {
  it.each([
    ['as they are', {}],
    ['with all there is', { storageSize: 'with', totalStorageSize: 'with', usernames: 'with' }],
    ['without payloads', { payloads: [] }],
    [
      'without a summary, newest first',
      { payloads: ['inputs', 'output'], order: [{ field: 'started_at', direction: 'desc' }] },
    ],
  ] as const)('are the same as from their rows, %s', async (_name, options) => {
    const { traces } = server.stores
    const project = server.newProject()
    const calls = ODD_CALLS.map(finishedCall)
    await writeCalls(server, project, calls)
    const { ended_at: _end, output: _output, summary: _summary, ...running } = finishedCall()
    await replyOf(await server.post('/call/start', { start: { ...running, project_id: project } }))
    const shown = { ...SHOWN, ...options }
    const ids = [...calls.map(({ id }) => id), String(running.id)]

    const rows = await rowsOf(wholeRows(traces, selectRows({ project_id: project }, ids, shown)))
    const fromRows = Buffer.concat(rows.map((row) => renderRows(row, shown).lines))
    const query = selectLines({ project_id: project }, ids, shown)
    const lines = Buffer.concat((await rowsOf(wholeLines(traces, query))).map(finishLines))
    expect(linesIn(lines)).toEqual(linesIn(fromRows))
    expect(linesIn(lines)).toHaveLength(ids.length)
  })
})

/** Members keep their order; a character may be escaped in several ways. */
function linesIn(texts: Buffer): string[] {
  const lines = texts.toString('utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.stringify(JSON.parse(line)))
}
