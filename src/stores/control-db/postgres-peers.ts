import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type pg from 'pg'
import { messageOf } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { createListeners, type Peers, type Topic, WATCHED_TABLES, type WatchedTable } from './peers.ts'
import type { ControlDb } from './port.ts'

/** The channel of `LISTEN` and `NOTIFY`. */
export const CHANNEL = 'heddle'

/** Peers, and how they learn what arrives. */
export interface PostgresPeers extends Peers {
  /** Passes on what arrived in the channel. */
  notified(payload: string): void
  /** Says that something may have been missed. */
  missed(): void
}

/**
 * Servers that share a PostgreSQL. Triggers report tables, in the transaction that changes them, so that no change is
 * without its report; all else is sent by itself.
 */
export function createPostgresPeers(pool: Pick<pg.Pool, 'query'>, log: Pick<Log, 'warn'>): PostgresPeers {
  const self = newId()
  const changed = new Map<string, (() => void)[]>()
  const listeners = createListeners()

  function notified(payload: string): void {
    const [kind = '', name = '', from = '', ...text] = payload.split('\n')
    if (kind === 'table') for (const call of changed.get(name) ?? []) call()
    else if (from !== self) listeners.pass(name, text.join('\n'), from)
  }

  return {
    arePossible: true,
    self,
    notified,

    missed() {
      for (const call of new Set([...changed.values()].flat())) call()
      listeners.missed()
    },

    onChange(tables, call) {
      for (const table of tables) changed.set(table, [...(changed.get(table) ?? []), call])
    },

    send(topic: Topic, text: string) {
      pool
        .query('select pg_notify($1, $2)', [CHANNEL, ['message', topic, self, text].join('\n')])
        .catch((error: unknown) =>
          log.warn({ topic, reason: messageOf(error) }, 'other servers could not be notified'),
        )
    },

    onMessage: listeners.add,
  }
}

/** Of tables where some changes concern no other server. */
const COLUMNS: Partial<Record<WatchedTable, string>> = {
  // Not the last use, which is written every minute.
  api_keys: 'insert or delete or update of hash, user_id, scope, project_id, expires_at, revoked_at',
  erasures: 'insert or delete or update of gone_at',
}

/** Makes the triggers that report changes, and replaces those that another version made otherwise. */
export async function reportChanges(control: ControlDb): Promise<void> {
  const { rows } = await sql<{ table: string; definition: string | null }>`
    select tgrelid::regclass::text as "table", obj_description(oid, 'pg_trigger') as definition
    from pg_trigger where tgname = 'heddle_changed'`.execute(control)
  const known = new Map(rows.map(({ table, definition }) => [table, definition]))
  const outdated = WATCHED_TABLES.filter((table) => known.get(table) !== definitionOf(table))
  if (outdated.length === 0) return
  await control.transaction().execute(async (tx) => {
    await sql.raw(FUNCTION).execute(tx)
    for (const table of outdated) {
      await sql.raw(triggerOn(table)).execute(tx)
      await sql`comment on trigger heddle_changed on ${sql.table(table)} is ${sql.lit(definitionOf(table))}`.execute(
        tx,
      )
    }
  })
}

const FUNCTION = `create or replace function heddle_changed() returns trigger language plpgsql as $$
  begin
    perform pg_notify('heddle', 'table' || chr(10) || tg_table_name);
    return null;
  end $$`

function triggerOn(table: WatchedTable): string {
  return `create or replace trigger heddle_changed
    after ${COLUMNS[table] ?? 'insert or delete or update'} on ${table}
    for each statement execute function heddle_changed()`
}

/** What a trigger's comment says, so that another definition is noticed. */
function definitionOf(table: WatchedTable): string {
  return createHash('sha256')
    .update(FUNCTION + triggerOn(table))
    .digest('hex')
}
