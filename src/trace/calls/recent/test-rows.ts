import { idOf } from '../../../ids.ts'
import type { Random } from '../../../test-random.ts'
import { isoOfMicros } from '../../../time.ts'
import type { CallRow } from '../sql/table.ts'

/**
 * When the first call of {@link createRows} starts: yesterday, since the server removes the marks of calls that were
 * deleted long ago.
 */
export const START_MS = Date.now() - 24 * 3_600_000

/** The ops of their calls. */
export const OPS = ['weave:///e/p/op/a:v1', 'weave:///e/p/op/a:v2', 'plain', 'é"\\\u0007']

/** Rows of calls as clients may write them: any part first, repeated, renamed, deleted, with clocks that differ. */
export function createRows(random: Random, project_id: string) {
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)]
  const ids: string[] = []
  let clock = START_MS

  function newCallId(): string {
    clock += Math.floor(random() * 5)
    const skew = random() < 0.2 ? -Math.floor(random() * 2000) : 0
    const id = idOf(`${random()}`, clock + skew)
    const kind = random()
    if (kind < 0.05) return `${id.slice(0, 14)}4${id.slice(15)}`
    return kind < 0.1 ? id.replaceAll('-', '').slice(0, 16) : id
  }

  function timeOf(): string {
    const ahead = random() * (random() < 0.1 ? 2000 : 200)
    return isoOfMicros((clock + Math.floor(ahead)) * 1000 + Math.floor(random() * 3))
  }

  function startOf(id: string): CallRow {
    return {
      project_id,
      id,
      has_start: 1,
      trace_id: pick([id, 't1', 't2', pick(ids.slice(-5)) ?? id, pick(ids) ?? id]),
      parent_id: pick([undefined, undefined, 'p1']),
      thread_id: pick([undefined, '', 'thread']),
      op_name: pick(OPS),
      display_name: pick([undefined, undefined, '', 'shown', 'lone \ud800']),
      started_at: timeOf(),
      attributes: '{"a":1.0}',
      inputs: JSON.stringify({ text: 'é'.repeat(Math.floor(random() * 50)) }),
      wb_user_id: pick(['me', 'you']),
      wb_run_step: pick([undefined, 0, 7]),
    }
  }

  function endOf(id: string): CallRow {
    return {
      project_id,
      id,
      ended_at: timeOf(),
      exception: pick([undefined, undefined, '', 'failed']),
      error_count: pick([undefined, 0, 2]),
      output: pick(['null', '[1, 2]', undefined]),
      summary: pick(['{}', '{ "weave": {"own": 1}, "b":2 }', '{"c":[]}']),
    }
  }

  function next(): CallRow {
    const known = random() < 0.5 ? pick(ids.slice(-40)) : pick(ids)
    const kind = random()
    if (known !== undefined && kind < 0.25) return endOf(known)
    if (known !== undefined && kind < 0.3) return startOf(known)
    if (known !== undefined && kind < 0.35)
      return { project_id, id: known, display_name: pick(['', 'renamed']) }
    if (known !== undefined && kind < 0.37) return { project_id, id: known, deleted_at: timeOf() }
    const id = newCallId()
    ids.push(id)
    if (kind < 0.5) return endOf(id)
    return kind < 0.6 ? startOf(id) : { ...startOf(id), ...endOf(id) }
  }

  return { next, ids }
}
