import { placesOf } from '../../src/open-stores.ts'
import { readSqlite } from '../../src/stores/control-db/sqlite.ts'
import { checkPlaces } from '../../src/stores/move/records.ts'

/**
 * Looks for stores that were moved away from where they are, and for moves that have not ended, as the data folder
 * notes them.
 * @throws Error that says which, and what to do: no server starts there
 */
export async function refuseMoved(places: Parameters<typeof placesOf>[0]): Promise<void> {
  await using control = readSqlite(places.dataFolder)
  const tables = await control.introspection.getTables()
  // Releases before that of the table have moved nothing.
  if (tables.some(({ name }) => name === 'moves')) await checkPlaces(control, placesOf(places))
}
