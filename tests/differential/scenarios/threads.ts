import { idOf, scenario } from '../scenario.ts'
import { finishedCall } from './call-parts.ts'

/** Threads and their turns. */
export const threads = scenario('threads', (project, ask) => {
  const turn = (
    name: string,
    thread_id: string,
    start: string,
    end: string,
    fields: Record<string, unknown> = {},
  ) =>
    finishedCall(project, name, {
      thread_id,
      turn_id: idOf(`${project} ${name}`),
      started_at: `2024-02-01T${start}Z`,
      ended_at: `2024-02-01T${end}Z`,
      ...fields,
    })
  const batch = [
    turn('a1', 'a', '10:00:00', '12:30:00'),
    turn('b1', 'b', '11:00:00', '11:00:00.001'),
    turn('b2', 'b', '11:30:00', '11:30:00.001'),
    turn('c1', 'c', '12:00:00', '12:00:00.5'),
    turn('c2', 'c', '12:00:01', '12:00:02.5'),
    turn('c3', 'c', '12:00:02', '12:00:02.25'),
    turn('nested', 'c', '12:00:01', '12:00:02.5', { turn_id: idOf(`${project} c1`) }),
    turn('elsewhere', 'n', '12:00:01', '12:00:02.5', { turn_id: idOf('another') }),
    turn('nameless', '', '12:00:01', '12:00:02.5'),
  ]
  const list = (title: string, fields: object) => ask(title, '/threads/stream_query', fields)
  const fields = [
    'thread_id',
    'turn_count',
    'start_time',
    'last_updated',
    'p50_turn_duration_ms',
    'p99_turn_duration_ms',
  ]
  return [
    list('none', {}),
    ask('writes', `/v2/${project}/calls/complete`, { batch }),
    list('all', {}),
    ...[1, 3, 0, -1].map((limit) => list(`limit ${limit}`, { limit })),
    ...[1, 5, -1].map((offset) => list(`offset ${offset}`, { offset })),
    list('limit 1 offset 1', { limit: 1, offset: 1 }),
    ...fields.flatMap((field) =>
      ['asc', 'desc'].map((direction) =>
        list(`by ${field} ${direction}`, {
          sort_by: [
            { field, direction },
            { field: 'thread_id', direction: 'asc' },
          ],
        }),
      ),
    ),
    list('by an unknown field', { sort_by: [{ field: 'first_turn_id', direction: 'asc' }] }),
    list('by nothing', { sort_by: [] }),
    list('some', { filter: { thread_ids: ['a', 'c', 'x'] } }),
    list('of no ids', { filter: { thread_ids: [] } }),
    list('after', { filter: { after_datetime: '2024-02-01T11:00:00Z' } }),
    list('before', { filter: { before_datetime: '2024-02-01T12:00:00Z' } }),
    list('between', {
      filter: { after_datetime: '2024-02-01T10:30:00Z', before_datetime: '2024-02-01T11:15:00Z' },
    }),
    list('before, in another zone', { filter: { before_datetime: '2024-02-01T12:00:00+01:00' } }),
    list('before a time that is none', { filter: { before_datetime: 'noon' } }),
    list('of an unknown project', { project_id: 'differential/nobody' }),
    ask('deletes a turn', '/calls/delete', { call_ids: [idOf(`${project} b1`)] }),
    list('without a deleted turn', { filter: { thread_ids: ['b'] } }),
  ]
})
