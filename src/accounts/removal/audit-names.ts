import { z } from 'zod'
import type { ControlTx } from '../../stores/control-db/port.ts'
import { renameUserIn } from '../../stores/control-db/rename-user.ts'
import * as queries from './removal-queries.ts'

/** Members of details whose values name a user, or what signs a user in; others may have the same text. */
const NAMING: ReadonlySet<string> = new Set(['admin', 'email', 'identity', 'service_account', 'user'])

/** Details are small; a page of them is held in memory. */
const EVENTS_AT_ONCE = 500

const Details = z.record(z.string(), z.unknown())

/**
 * Puts another text in audit events where one names a user: as who acted, as the entity, which may be that of a user
 * alone, as what was acted on, and in details.
 */
export async function renameInAudit(tx: ControlTx, text: string, replacement: string): Promise<void> {
  const user = { name: text, pseudonym: replacement }
  await renameUserIn(tx, { audit_events: ['actor', 'entity', 'subject'] }, user)
  let afterId = ''
  for (;;) {
    const events = await queries.eventsWith(tx, text, { afterId, limit: EVENTS_AT_ONCE })
    for (const { id, details } of events) {
      const renamed = JSON.stringify(renamedIn(JSON.parse(details), text, replacement))
      if (renamed !== details) await queries.updateDetails(tx, id, renamed)
    }
    afterId = events.at(-1)?.id ?? ''
    if (events.length < EVENTS_AT_ONCE) return
  }
}

/** Of lists, such as those of identity providers, only `data` has members of this server. */
function renamedIn(details: unknown, text: string, replacement: string): unknown {
  const parsed = Details.safeParse(details)
  if (!parsed.success) return details
  const entries = Object.entries(parsed.data).map(([name, value]) => {
    if (NAMING.has(name) && value === text) return [name, replacement]
    if (name === 'data' && Array.isArray(value))
      return [name, value.map((item) => renamedIn(item, text, replacement))]
    return [name, value]
  })
  return Object.fromEntries(entries)
}
