import { sql } from 'kysely'
import type { ControlTx } from './port.ts'

/**
 * Ids of what some projects, given as `entity/project`, have in a table; also as a part of another statement, which has
 * no limit of ids.
 */
export function selectIdsOfProjects(
  db: ControlTx,
  table: 'artifact_collections' | 'models' | 'runs' | 'training_jobs',
  projectIds: readonly string[],
) {
  return db.selectFrom(table).select('id').where(sql<string>`entity || '/' || project`, 'in', projectIds)
}
