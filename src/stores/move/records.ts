import { newId } from '../../ids.ts'
import { nowIso } from '../../time.ts'
import type { ControlDb } from '../control-db/port.ts'
import type { MovedStore } from './move-options.ts'

/** Where each store is, for people; without passwords. */
export type Places = Readonly<Record<MovedStore, string>>

/** A move of one store. */
export interface StoreMove {
  store: MovedStore
  from: string
  to: string
}

const NAMES: Readonly<Record<MovedStore, string>> = {
  trace_db: 'trace database',
  control_db: 'control database',
  blobs: 'file store',
}

/** Notes that a store is being moved; once where an interrupted move goes on. */
export async function beginMove(control: ControlDb, move: StoreMove): Promise<void> {
  if (await isBegun(control, move)) return
  const row = { id: newId(), ...rowOf(move), started_at: nowIso(), finished_at: null }
  await control.insertInto('moves').values(row).execute()
}

/** Whether a store was begun to be moved to where it is going now. */
export async function isBegun(control: ControlDb, { store, from, to }: StoreMove): Promise<boolean> {
  const row = await control
    .selectFrom('moves')
    .select('id')
    .where('store', '=', store)
    .where('from_place', '=', from)
    .where('to_place', '=', to)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Notes that stores are moved, all at once. */
export async function finishMoves(control: ControlDb, moves: readonly StoreMove[]): Promise<void> {
  const finished_at = nowIso()
  await control.transaction().execute(async (transaction) => {
    for (const move of moves) {
      await transaction
        .deleteFrom('moves')
        .where('store', '=', move.store)
        .where('to_place', '=', move.to)
        .where('finished_at', 'is', null)
        .execute()
      const row = { id: newId(), ...rowOf(move), started_at: finished_at, finished_at }
      await transaction.insertInto('moves').values(row).execute()
    }
  })
}

/** Forgets all moves, so that the stores are used where they are. */
export async function forgetMoves(control: ControlDb): Promise<number> {
  const { numDeletedRows } = await control.deleteFrom('moves').executeTakeFirst()
  return Number(numDeletedRows)
}

/**
 * Checks that no store was moved away from where it is, and that none is there in part only.
 * @throws Error that says which, and what to do
 */
export async function checkPlaces(control: ControlDb, places: Places): Promise<void> {
  const rows = await control.selectFrom('moves').selectAll().orderBy('id').execute()
  for (const [store, place] of Object.entries(places)) {
    const last = rows.findLast((row) => row.store === store && [row.from_place, row.to_place].includes(place))
    if (last === undefined) continue
    const name = NAMES[last.store]
    if (last.to_place === place && last.finished_at === null)
      throw new Error(
        `The move of the ${name} from ${last.from_place} to ${place} is not finished: run "heddle move" again`,
      )
    if (last.from_place === place && last.finished_at !== null)
      throw new Error(
        `The ${name} was moved from ${place} to ${last.to_place} at ${last.finished_at}: use the settings of the new ` +
          'place. To use the old one again, without what was written since, run "heddle move --forget"',
      )
  }
}

function rowOf({ store, from, to }: StoreMove) {
  return { store, from_place: from, to_place: to }
}
