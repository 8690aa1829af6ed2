import type { Selectable } from 'kysely'
import type { AuditEventsTable } from '../../stores/control-db/account-tables.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'

export type AuditRow = Selectable<AuditEventsTable>

export async function insertEvent(tx: ControlTx, row: AuditRow): Promise<void> {
  await tx.insertInto('audit_events').values(row).execute()
}

export interface AuditPage {
  /** Events of one entity; of all, and of the server itself, where absent. */
  entity: string | undefined
  action: string | undefined
  actor: string | undefined
  beforeId: string | undefined
  limit: number
}

/** Events, newest first. */
export function listEvents(control: ControlDb, page: AuditPage): Promise<AuditRow[]> {
  let query = control.selectFrom('audit_events').selectAll()
  if (page.entity !== undefined) query = query.where('entity', '=', page.entity)
  if (page.action !== undefined) query = query.where('action', '=', page.action)
  if (page.actor !== undefined) query = query.where('actor', '=', page.actor)
  if (page.beforeId !== undefined) query = query.where('id', '<', page.beforeId)
  return query.orderBy('id', 'desc').limit(page.limit).execute()
}
