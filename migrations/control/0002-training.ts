import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await createModels(db)
  await createJobs(db)
}

async function createModels(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('initial_adapters')
    .addColumn('base_model', 'text', (column) => column.notNull())
    .addColumn('lora', 'text', (column) => column.notNull())
    .addColumn('adapter_digest', 'text', (column) => column.notNull())
    .addColumn('manifest', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('initial_adapters_key', ['base_model', 'lora'])
    .execute()

  await db.schema
    .createTable('models')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('entity', 'text', (column) => column.notNull())
    .addColumn('project', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('base_model', 'text', (column) => column.notNull())
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('lora', 'text', (column) => column.notNull())
    .addColumn('best_metric', 'text', (column) => column.notNull())
    .addColumn('best_mode', 'text', (column) => column.notNull())
    .addColumn('last_step', 'integer', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('models_name', ['entity', 'project', 'name'])
    .execute()

  await db.schema
    .createTable('checkpoints')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('model_id', 'text', (column) => column.notNull())
    .addColumn('step', 'integer', (column) => column.notNull())
    .addColumn('metrics', 'text', (column) => column.notNull())
    .addColumn('adapter_digest', 'text', (column) => column.notNull())
    .addColumn('manifest', 'text', (column) => column.notNull())
    .addColumn('artifact_id', 'text', (column) => column.notNull())
    .addColumn('job_id', 'text')
    .addColumn('merged', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('deleted_at', 'text')
    .addUniqueConstraint('checkpoints_step', ['model_id', 'step'])
    .execute()
}

async function createJobs(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('training_jobs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('model_id', 'text', (column) => column.notNull())
    .addColumn('base_model', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('config', 'text', (column) => column.notNull())
    .addColumn('data_key', 'text', (column) => column.notNull())
    .addColumn('counts', 'text', (column) => column.notNull())
    .addColumn('source_checkpoint_id', 'text')
    .addColumn('checkpoint_step', 'integer')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('error_message', 'text')
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('started_at', 'text')
    .addColumn('ended_at', 'text')
    .addColumn('traced_at', 'text')
    .execute()
  await db.schema
    .createIndex('training_jobs_queue')
    .on('training_jobs')
    .columns(['state', 'base_model', 'id'])
    .execute()
  await db.schema.createIndex('training_jobs_model').on('training_jobs').columns(['model_id']).execute()

  await db.schema
    .createTable('training_job_events')
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('job_id', 'text', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('training_job_events_key', ['job_id', 'position'])
    .execute()
}
