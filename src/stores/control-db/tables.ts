import type { Kysely, Transaction } from 'kysely'

/** A project exists from its first use. */
export interface ProjectsTable {
  entity: string
  name: string
  created_at: string
}

/** The adapter that changes nothing yet: step 0 of every model of a base model. */
export interface InitialAdaptersTable {
  base_model: string
  adapter_digest: string
  /** JSON: a list of file name, digest and size. */
  manifest: string
  created_at: string
}

export interface ModelsTable {
  id: string
  entity: string
  project: string
  name: string
  base_model: string
  run_id: string
  /** The highest step ever given out; never goes down, so that no step is used twice. */
  last_step: number
  created_by: string
  created_at: string
}

/** Rows of deleted checkpoints stay, because a client may hold their id as a cursor. */
export interface CheckpointsTable {
  id: string
  model_id: string
  step: number
  /** JSON: name to number. */
  metrics: string
  /** Tells apart what inference would see: over the adapter's files only. */
  adapter_digest: string
  /** JSON: a list of file name, digest and size. */
  manifest: string
  job_id: string | null
  created_at: string
  deleted_at: string | null
}

export interface TrainingJobsTable {
  id: string
  model_id: string
  base_model: string
  kind: 'rl'
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  /** JSON: every default filled in. */
  config: string
  /** Blob key of what is trained on. */
  data_key: string
  /** Set when the job first starts; a job that is run again starts from the same checkpoint. */
  source_checkpoint_id: string | null
  /** The step that the job produced. */
  checkpoint_step: number | null
  attempts: number
  error_message: string | null
  created_by: string
  created_at: string
  started_at: string | null
  ended_at: string | null
}

export interface TrainingJobEventsTable {
  id: string
  job_id: string
  /** Counts from 1 inside a job. */
  position: number
  type: string
  /** JSON. */
  data: string
  created_at: string
}

/** Every table of the control database; date-times are ISO 8601 texts, JSON values are texts. */
export interface ControlTables {
  projects: ProjectsTable
  initial_adapters: InitialAdaptersTable
  models: ModelsTable
  checkpoints: CheckpointsTable
  training_jobs: TrainingJobsTable
  training_job_events: TrainingJobEventsTable
}

/** The control database: small rows that must agree with each other. */
export type ControlDb = Kysely<ControlTables>

/** The control database, or a transaction in it. */
export type ControlTx = ControlDb | Transaction<ControlTables>
