import { readControlDb } from '../../src/open-control-db.ts'
import { placesOf } from '../../src/open-stores.ts'
import { checkPlaces } from '../../src/stores/move/records.ts'

/**
 * Checks for stores that were moved away from where they are, and moves that have not ended, as the control database
 * notes them.
 * @throws Error that says which, and what to do: no server starts there
 */
export async function refuseMoved(places: Parameters<typeof placesOf>[0]): Promise<void> {
  await using control = await readControlDb(places)
  const tables = (await control?.introspection.getTables()) ?? []
  // Releases before that of the table have moved nothing.
  if (control !== undefined && tables.some(({ name }) => name === 'moves'))
    await checkPlaces(control, placesOf(places))
}
