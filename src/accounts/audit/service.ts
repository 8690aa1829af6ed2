import { requireRight } from '../../access.ts'
import { notAllowed } from '../../errors.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { toPage } from '../../wire/page-wire.ts'
import type { AuditAction } from './actions-wire.ts'
import { type AuditRow, insertEvent, listEvents } from './queries.ts'
import type { AuditEvent, AuditExportQuery, AuditQuery, AuditRes } from './wire.ts'

/** Events that an export reads at a time. */
const EXPORT_PAGE = 500

/** What was done, to what. */
export interface Audited {
  action: AuditAction
  /** The entity that it concerns; null for the whole server. */
  entity: string | null
  subject: string
  /** What changed; never a secret. */
  details?: Record<string, unknown>
}

/** The record of who changed access, keys and settings, and who deleted or exported data. */
export interface Audit {
  /** Adds an event, in the transaction of the change where there is one. */
  record(caller: Pick<Caller, 'user' | 'keyId'>, event: Audited, tx?: ControlTx): Promise<void>
  /** A page of events, newest first. @throws 403 for callers that neither manage the entity nor run the server. */
  list(req: AuditQuery, context: CallContext): Promise<AuditRes>
  /** All events, newest first. @throws as {@link list} */
  export(req: AuditExportQuery, context: CallContext): Promise<AsyncIterable<AuditEvent>>
}

export function createAudit({ control }: { control: ControlDb }): Audit {
  async function record(
    caller: Pick<Caller, 'user' | 'keyId'>,
    { action, entity, subject, details = {} }: Audited,
    tx: ControlTx = control,
  ): Promise<void> {
    const row = {
      id: newId(),
      at: nowIso(),
      actor: caller.user,
      key_id: caller.keyId,
      action,
      entity,
      subject,
    }
    await insertEvent(tx, { ...row, details: JSON.stringify(details) })
  }

  async function list(req: AuditQuery, { caller }: CallContext) {
    check(req.entity, caller)
    const { entity, action, actor, after, limit } = req
    const rows = await listEvents(control, { entity, action, actor, beforeId: after, limit: limit + 1 })
    return toPage(rows.map(toWire), limit)
  }

  async function* all(entity: string | undefined): AsyncGenerator<AuditEvent> {
    let beforeId: string | undefined
    while (true) {
      const page = { entity, action: undefined, actor: undefined, beforeId, limit: EXPORT_PAGE }
      const rows = await listEvents(control, page)
      for (const row of rows) yield toWire(row)
      if (rows.length < EXPORT_PAGE) return
      beforeId = rows.at(-1)?.id
    }
  }

  async function exportAll({ entity }: AuditExportQuery, { caller }: CallContext) {
    check(entity, caller)
    await record(caller, { action: 'audit.export', entity: entity ?? null, subject: entity ?? 'all' })
    return all(entity)
  }

  return { record, list, export: exportAll }
}

function check(entity: string | undefined, { rights }: Caller): void {
  if (rights.isOperator) return
  if (entity === undefined) throw notAllowed('Only operators read the events of all entities: name one')
  requireRight(rights, 'manage', { entity })
}

function toWire({ details, ...row }: AuditRow): AuditEvent {
  return { ...row, details: JSON.parse(details) as Record<string, unknown> }
}
