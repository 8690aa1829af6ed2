import { selectIdsOfProjects } from '../../stores/control-db/ids-of-projects.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { VersionRow } from './queries.ts'

/** Ids of all collections of some projects. */
export async function collectionIdsOf(control: ControlDb, projectIds: readonly string[]): Promise<string[]> {
  return (await selectIdsOfProjects(control, 'artifact_collections', projectIds).execute()).map(
    ({ id }) => id,
  )
}

/** Ids of all versions that are in one of some states. */
export function selectIdsIn(control: ControlDb, states: readonly VersionRow['state'][]) {
  return control.selectFrom('artifact_versions').select('id').where('state', 'in', states)
}

/** Versions in some projects, and the bytes here of their files; a file of two versions counts twice. */
export async function sumVersions(
  control: ControlDb,
  projectIds: readonly string[],
): Promise<{ count: number; bytes: number }> {
  const collections = selectIdsOfProjects(control, 'artifact_collections', projectIds)
  const versions = control
    .selectFrom('artifact_versions')
    .select('id')
    .where('collection_id', 'in', collections)
  const counted = await control
    .selectFrom(versions.as('found'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  const summed = await control
    .selectFrom('artifact_files')
    .select((eb) => eb.fn.sum<number | null>('size').as('bytes'))
    .where('artifact_id', 'in', versions)
    .where('reference', 'is', null)
    .executeTakeFirst()
  return { count: counted?.count ?? 0, bytes: summed?.bytes ?? 0 }
}
