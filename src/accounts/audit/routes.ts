import { type Route, route } from '../../http/route.ts'
import type { Audit } from './service.ts'
import { AuditEvent, AuditExportQuery, AuditQuery, AuditRes } from './wire.ts'

export function auditRoutes(audit: Audit): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/accounts/audit',
      operationId: 'list_audit_events',
      summary: 'List who changed access, keys and settings, and who deleted or exported data',
      family: 'training',
      access: 'any-key',
      query: AuditQuery,
      reply: 'json',
      response: AuditRes,
      handle: audit.list,
    }),
    route({
      method: 'GET',
      path: '/v1/accounts/audit/export',
      operationId: 'export_audit_events',
      summary: 'All audit events, one JSON document a line',
      family: 'training',
      access: 'any-key',
      query: AuditExportQuery,
      reply: 'jsonl',
      response: AuditEvent,
      handle: audit.export,
    }),
  ]
}
