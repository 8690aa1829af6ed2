import type { Kysely, Transaction } from 'kysely'
import type {
  ArtifactAliasesTable,
  ArtifactCollectionsTable,
  ArtifactFilesTable,
  ArtifactLinksTable,
  ArtifactUsesTable,
  ArtifactVersionsTable,
} from './artifact-tables.ts'

/** What each migration was when it was applied. Kysely's own table has the names and times. */
export interface MigrationChecksumsTable {
  name: string
  checksum: string
}

/** A project exists from its first use. */
export interface ProjectsTable {
  entity: string
  name: string
  created_at: string
}

/** The adapter that changes nothing yet: step 0 of every model of a base model and an adapter shape. */
export interface InitialAdaptersTable {
  base_model: string
  /** JSON: the shape of the adapter. */
  lora: string
  adapter_digest: string
  /** JSON: a list of file name, digest, md5 and size. */
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
  /** JSON: the shape of its adapters. */
  lora: string
  /** The metric by which `:best` is chosen. */
  best_metric: string
  best_mode: 'max' | 'min'
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
  /** JSON: a list of file name, digest, md5 and size. */
  manifest: string
  /** The artifact version that shows this checkpoint to W&B clients; its aliases are the checkpoint's tags. */
  artifact_id: string
  job_id: string | null
  /** JSON: the base model with this adapter merged into it, once somebody has asked for that. */
  merged: string | null
  /** Of the job that made it. */
  dataset_ref: string | null
  created_at: string
  deleted_at: string | null
}

export interface TrainingJobsTable {
  id: string
  model_id: string
  base_model: string
  kind: 'rl' | 'sft'
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  /** JSON: every default filled in. */
  config: string
  /** What is trained on: for RL a blob key, for SFT the digest of a content that the job owns. */
  data_key: string
  /** JSON: name to number, of what was sent. */
  counts: string
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
  /** When the job's trajectories had become calls of the project; null for what has none to show. */
  traced_at: string | null
  /** The version of a dataset whose rows are trained on; null for data that is none. */
  dataset_ref: string | null
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

/** Bytes that are kept once. */
export interface ContentsTable {
  /** SHA-256, hexadecimal. */
  digest: string
  /** Base64. */
  md5: string
  size: number
  blob_key: string
}

/** Who needs which bytes. */
export interface ContentOwnersTable {
  /** Such as `checkpoint:ID`. */
  owner: string
  digest: string
}

/** Random texts that were made once, such as the key that signs URLs. */
export interface SecretsTable {
  name: string
  value: string
}

export interface RunsTable {
  id: string
  entity: string
  project: string
  /** What clients call the run's id. */
  name: string
  /** What clients call the run's name. */
  display_name: string
  description: string | null
  notes: string | null
  group_name: string | null
  job_type: string | null
  /** JSON: a list of texts. */
  tags: string
  host: string | null
  program: string | null
  commit_hash: string | null
  /** JSON: name to `{value}`, the client's own text. */
  config: string
  /** JSON: an object, the client's own text. */
  summary: string
  state: 'pending' | 'running' | 'finished' | 'failed'
  exit_code: number | null
  /** Lines received so far; a run that is resumed goes on from here. */
  history_lines: number
  system_lines: number
  log_lines: number
  /** The highest step logged, -1 before the first. */
  last_step: number
  created_by: string
  created_at: string
  heartbeat_at: string
  ended_at: string | null
  /** When the run was asked to stop; its client reads it with its next request. */
  stop_requested_at: string | null
}

/** What a run wants people to know. */
export interface RunAlertsTable {
  id: string
  run_id: string
  title: string
  text: string
  severity: 'INFO' | 'WARN' | 'ERROR'
  created_at: string
}

export interface RunFilesTable {
  run_id: string
  name: string
  digest: string
  /** Base64. */
  md5: string
  size: number
  /** Who owns the content; each upload is an owner of its own, so that the one before can be released. */
  owner: string
  updated_at: string
}

export interface AnnotationQueuesTable {
  id: string
  project_id: string
  name: string
  /** The name in lower case, for searches: SQLite itself folds ASCII alone. */
  name_lower: string
  description: string
  /** JSON: a list of texts. */
  scorer_refs: string
  total_items: number
  /** Those that somebody has completed or skipped. */
  completed_items: number
  created_by: string
  created_at: string
  updated_at: string
  deleted_at: string | null
}

/** A call that people are asked to look at, with what it was when it was added. */
export interface AnnotationQueueItemsTable {
  id: string
  queue_id: string
  call_id: string
  call_started_at: string
  call_ended_at: string | null
  call_op_name: string
  call_trace_id: string
  /** JSON: a list of texts. */
  display_fields: string
  added_by: string
  /** What the last annotator to finish it made of it, and who that was. */
  finished_state: 'completed' | 'skipped' | null
  finished_by: string | null
  /** Who works on it, with which key, and until when nobody else may. */
  claimed_by: string | null
  claimed_with: string | null
  claimed_until: string | null
  created_at: string
  updated_at: string
}

/** What each annotator made of an item. */
export interface AnnotationResultsTable {
  item_id: string
  annotator: string
  state: 'completed' | 'skipped'
  finished_at: string
}

/** An evaluation that runs on the server; its row goes when it has ended. */
export interface EvaluationJobsTable {
  /** The call that the evaluation is. */
  call_id: string
  project_id: string
  evaluation_ref: string
  model_ref: string
  user: string
  key_id: string
  created_at: string
}

/** A call that a scorer is yet to be applied to. */
export interface ScoringTasksTable {
  /** Also of the feedback that comes of it. */
  id: string
  project_id: string
  call_id: string
  scorer_ref: string
  /** The monitor that wants it, where one does. */
  trigger_ref: string | null
  /** Whether scoring is a call of its own: 0 or 1. */
  is_traced: number
  user: string
  key_id: string
  attempts: number
  due_at: string
  /** Of several tasks with one key, only the last is wanted. */
  debounce_key: string | null
  /** What the call is scored as. */
  target: 'call' | 'agent_turn'
  /** The ids of the calls that are scored together, in the order they ended, as JSON; null for the call alone. */
  window_calls: string | null
}

/** A call of a project with monitors, from just before it is written until monitors have looked at it. */
export interface MonitoredCallsTable {
  project_id: string
  call_id: string
  noted_at: string
}

/** What became of the calls that a monitor wanted scored, over all its versions. */
export interface MonitorStatesTable {
  project_id: string
  object_id: string
  scored: number
  failed: number
  last_run_at: string
  /** Why a call was not scored, or not looked at, the last time that happened. */
  last_error: string | null
}

/** Every table of the control database; date-times are ISO 8601 texts, JSON values are texts. */
export interface ControlTables {
  migration_checksums: MigrationChecksumsTable
  projects: ProjectsTable
  contents: ContentsTable
  content_owners: ContentOwnersTable
  initial_adapters: InitialAdaptersTable
  models: ModelsTable
  checkpoints: CheckpointsTable
  training_jobs: TrainingJobsTable
  training_job_events: TrainingJobEventsTable
  secrets: SecretsTable
  artifact_collections: ArtifactCollectionsTable
  artifact_versions: ArtifactVersionsTable
  artifact_files: ArtifactFilesTable
  artifact_aliases: ArtifactAliasesTable
  artifact_links: ArtifactLinksTable
  artifact_uses: ArtifactUsesTable
  runs: RunsTable
  run_files: RunFilesTable
  run_alerts: RunAlertsTable
  annotation_queues: AnnotationQueuesTable
  annotation_queue_items: AnnotationQueueItemsTable
  annotation_results: AnnotationResultsTable
  evaluation_jobs: EvaluationJobsTable
  scoring_tasks: ScoringTasksTable
  monitored_calls: MonitoredCallsTable
  monitor_states: MonitorStatesTable
}

/** The control database: small rows that must agree with each other. */
export type ControlDb = Kysely<ControlTables>

/** The control database, or a transaction in it. */
export type ControlTx = ControlDb | Transaction<ControlTables>
