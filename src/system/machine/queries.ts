import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Query } from '../../stores/trace-db/port.ts'

/** Parts that were merged into others are on disk until the database removes them. */
export function traceBytes(): Query {
  return {
    sql: 'SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE database = currentDatabase()',
    params: {},
  }
}

/** Sizes of all contents, and of those that a checkpoint owns. */
export async function contentBytes(control: ControlDb): Promise<{ all: number; checkpoints: number }> {
  const sum = control.selectFrom('contents').select(({ fn }) => fn.sum<number | null>('size').as('bytes'))
  const ofCheckpoints = control
    .selectFrom('content_owners')
    .select('digest')
    // A range of ids, which an index answers: `;` follows `:`.
    .where('owner', '>=', 'checkpoint:')
    .where('owner', '<', 'checkpoint;')
  const [all, checkpoints] = await Promise.all([
    sum.executeTakeFirst(),
    sum.where('digest', 'in', ofCheckpoints).executeTakeFirst(),
  ])
  return { all: all?.bytes ?? 0, checkpoints: checkpoints?.bytes ?? 0 }
}
