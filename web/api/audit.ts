import type { AuditEvent } from '../../src/accounts/audit/wire.ts'
import { ask } from './client.ts'
import { pagesQuery } from './pages.ts'

export type { AuditEvent }

export interface AuditFilter {
  /** Empty for the whole server, which operators alone read. */
  entity: string
  /** Whole names; empty for all. */
  action: string
  actor: string
}

/** Events, the newest first. */
export function auditQuery(filter: AuditFilter) {
  const query = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))
  return pagesQuery<AuditEvent>({
    key: ['accounts', 'audit'],
    path: '/v1/accounts/audit',
    query,
    cursorOf: ({ id }) => id,
  })
}

/** All events of an entity or of the server, one JSON document a line. */
export async function auditFile(entity: string): Promise<Blob> {
  const query = entity === '' ? '' : `?entity=${encodeURIComponent(entity)}`
  return (await ask(`/v1/accounts/audit/export${query}`)).blob()
}
