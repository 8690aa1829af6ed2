import { z } from 'zod'
import { pageOf, StrictPageQuery } from '../../wire/page-wire.ts'

export const AuditQuery = StrictPageQuery.extend({
  entity: z.string().optional().meta({ description: 'Operators may leave it out, and get all events' }),
  action: z.string().optional(),
  actor: z.string().optional(),
})
export type AuditQuery = z.output<typeof AuditQuery>

export const AuditEvent = z
  .object({
    id: z.string(),
    at: z.string(),
    actor: z.string(),
    key_id: z.string(),
    action: z.string(),
    entity: z.string().nullable(),
    subject: z.string(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEvent' })
export type AuditEvent = z.input<typeof AuditEvent>

export const AuditRes = pageOf(AuditEvent).meta({ id: 'AuditPage' })
export type AuditRes = z.input<typeof AuditRes>

export const AuditExportQuery = z.strictObject({ entity: z.string().optional() })
export type AuditExportQuery = z.output<typeof AuditExportQuery>
