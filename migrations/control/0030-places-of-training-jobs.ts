import { type Kysely, sql } from 'kysely'

/** Jobs say whose they are by themselves, also once their model is deleted. The artifacts of a deleted model's steps are still there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['entity', 'project'])
    await db.schema
      .alterTable('training_jobs')
      .addColumn(column, 'text', (definition) => definition.notNull().defaultTo(''))
      .execute()
  const placeIn = (table: string) => sql`
    UPDATE training_jobs SET
      entity = (SELECT found.entity FROM ${sql.raw(table)} AS found WHERE found.model_id = training_jobs.model_id LIMIT 1),
      project = (SELECT found.project FROM ${sql.raw(table)} AS found WHERE found.model_id = training_jobs.model_id LIMIT 1)
    WHERE entity = '' AND model_id IN (SELECT found.model_id FROM ${sql.raw(table)} AS found)`
  await placeIn('(SELECT id AS model_id, entity, project FROM models)').execute(db)
  await placeIn(`(SELECT checkpoints.model_id, artifact_collections.entity, artifact_collections.project FROM checkpoints
    JOIN artifact_versions ON artifact_versions.id = checkpoints.artifact_id
    JOIN artifact_collections ON artifact_collections.id = artifact_versions.collection_id)`).execute(db)
  await db.schema
    .createIndex('training_jobs_project')
    .on('training_jobs')
    .columns(['entity', 'project'])
    .execute()
}
