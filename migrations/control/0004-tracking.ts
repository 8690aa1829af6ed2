import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('secrets')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute()
  await createArtifacts(db)
  await createRuns(db)
}

async function createArtifacts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('artifact_collections')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('entity', 'text', (column) => column.notNull())
    .addColumn('project', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('last_version', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('artifact_collections_name', ['entity', 'project', 'name'])
    .execute()

  await db.schema
    .createTable('artifact_versions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('collection_id', 'text', (column) => column.notNull())
    .addColumn('version', 'integer')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('metadata', 'text', (column) => column.notNull())
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('wanted_aliases', 'text', (column) => column.notNull())
    .addColumn('manifest_md5', 'text')
    .addColumn('manifest_digest', 'text')
    .addColumn('run_id', 'text')
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('artifact_versions_version', ['collection_id', 'version'])
    .execute()
  await db.schema
    .createIndex('artifact_versions_state')
    .on('artifact_versions')
    .columns(['state', 'created_at'])
    .execute()
  await db.schema.createIndex('artifact_versions_run').on('artifact_versions').columns(['run_id']).execute()

  await db.schema
    .createTable('artifact_files')
    .addColumn('artifact_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('md5', 'text', (column) => column.notNull())
    .addColumn('digest', 'text')
    .addColumn('size', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('artifact_files_key', ['artifact_id', 'name'])
    .execute()

  await db.schema
    .createTable('artifact_aliases')
    .addColumn('collection_id', 'text', (column) => column.notNull())
    .addColumn('alias', 'text', (column) => column.notNull())
    .addColumn('artifact_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('artifact_aliases_key', ['collection_id', 'alias'])
    .execute()
  await db.schema
    .createIndex('artifact_aliases_artifact')
    .on('artifact_aliases')
    .columns(['artifact_id'])
    .execute()

  await db.schema
    .createTable('artifact_uses')
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('artifact_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('artifact_uses_key', ['run_id', 'artifact_id'])
    .execute()
  await db.schema.createIndex('artifact_uses_artifact').on('artifact_uses').columns(['artifact_id']).execute()
}

async function createRuns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('runs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('entity', 'text', (column) => column.notNull())
    .addColumn('project', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('display_name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('notes', 'text')
    .addColumn('group_name', 'text')
    .addColumn('job_type', 'text')
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('host', 'text')
    .addColumn('program', 'text')
    .addColumn('commit_hash', 'text')
    .addColumn('config', 'text', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('exit_code', 'integer')
    .addColumn('history_lines', 'integer', (column) => column.notNull())
    .addColumn('system_lines', 'integer', (column) => column.notNull())
    .addColumn('log_lines', 'integer', (column) => column.notNull())
    .addColumn('last_step', 'integer', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('heartbeat_at', 'text', (column) => column.notNull())
    .addColumn('ended_at', 'text')
    .addUniqueConstraint('runs_name', ['entity', 'project', 'name'])
    .execute()

  await db.schema
    .createTable('run_files')
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('md5', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('run_files_key', ['run_id', 'name'])
    .execute()
}
