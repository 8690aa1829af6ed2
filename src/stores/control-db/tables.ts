import type {
  ApiKeysTable,
  AuditEventsTable,
  EntitiesTable,
  IdentityProvidersTable,
  MembershipsTable,
  SessionsTable,
  SignInLinksTable,
  UserIdentitiesTable,
  UsersTable,
} from './account-tables.ts'
import type {
  ArtifactAliasesTable,
  ArtifactCollectionsTable,
  ArtifactFilesTable,
  ArtifactLinksTable,
  ArtifactUsesTable,
  ArtifactVersionsTable,
} from './artifact-tables.ts'
import type { JobsTable } from './job-table.ts'
import type { BudgetsTable, UsageLimitsTable } from './limit-tables.ts'
import type { MovesTable } from './move-table.ts'
import type { ErasedProjectsTable, ErasuresTable, RetentionSettingsTable } from './retention-tables.ts'

/** Kysely's own table of the migrations that were applied. */
interface KyselyMigrationTable {
  name: string
  timestamp: string
}

/** The checksum of each migration when it was applied. */
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

/** The initial adapter, which changes nothing: step 0 of every model of a base model and an adapter shape. */
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
  /** Identifies the weights for inference: over the adapter's files only. */
  adapter_digest: string
  /** JSON: a list of file name, digest, md5 and size. */
  manifest: string
  /** The artifact version that shows this checkpoint to W&B clients; its aliases are the checkpoint's tags. */
  artifact_id: string
  job_id: string | null
  /** JSON: the files of the base model with this adapter merged into it; null until they are requested. */
  merged: string | null
  /** Of the job that made it. */
  dataset_ref: string | null
  created_at: string
  deleted_at: string | null
}

export interface TrainingJobsTable {
  id: string
  model_id: string
  /** Of the model, which may be deleted before the job is; empty where an earlier release did not keep it. */
  entity: string
  project: string
  base_model: string
  kind: 'rl' | 'sft'
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  /** JSON: every default filled in. */
  config: string
  /** The training data: for RL a blob key, for SFT the digest of a content that the job owns. */
  data_key: string
  /** JSON: name to number, of the submitted data. */
  counts: string
  /** Set when the job first starts; a repeated job starts from the same checkpoint. */
  source_checkpoint_id: string | null
  /** The step that the job produced. */
  checkpoint_step: number | null
  attempts: number
  error_message: string | null
  created_by: string
  created_at: string
  started_at: string | null
  ended_at: string | null
  /** The version of a dataset whose rows are trained on; null for other data. */
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

/** Bytes stored once by content. */
export interface ContentsTable {
  /** SHA-256, hexadecimal. */
  digest: string
  /** Base64. */
  md5: string
  size: number
  blob_key: string
}

/** Which owner has which bytes. */
export interface ContentOwnersTable {
  /** Such as `checkpoint:ID`. */
  owner: string
  digest: string
}

/** The redaction rules of projects that have set some. */
export interface RedactionRulesTable {
  project_id: string
  /** JSON: a list. */
  rules: string
  updated_at: string
}

/** How often a rule of a project has found something. */
export interface RedactionHitsTable {
  project_id: string
  rule: string
  hits: number
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
  /** A run that is preempting waits, silently and for any time, to be started again. */
  state: 'pending' | 'running' | 'preempting' | 'finished' | 'failed'
  exit_code: number | null
  /** Lines received so far; a run that is resumed continues from here. */
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

/** Alerts of a run. */
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
  /** Who owns the content; each upload is an owner of its own, so that the previous one can be released. */
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
  /** Items that an annotator has completed or skipped. */
  completed_items: number
  created_by: string
  created_at: string
  updated_at: string
  deleted_at: string | null
}

/** A call that people are to review, with its state when it was added. */
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
  /** The result and name of the last annotator who finished it. */
  finished_state: 'completed' | 'skipped' | null
  finished_by: string | null
  /** The annotator who has claimed it, with which key, and until when. */
  claimed_by: string | null
  claimed_with: string | null
  claimed_until: string | null
  created_at: string
  updated_at: string
}

/** Each annotator's result for an item. */
export interface AnnotationResultsTable {
  item_id: string
  annotator: string
  state: 'completed' | 'skipped'
  finished_at: string
}

/** A call of a project with monitors, from just before it is written until its monitors have been evaluated. */
export interface MonitoredCallsTable {
  project_id: string
  call_id: string
  noted_at: string
  /** The write of its end, while that is in progress; or that its start is waited for. */
  pending_write: string | null
}

/** Outcomes of the tasks of a monitor, over all its versions. */
export interface MonitorStatesTable {
  project_id: string
  object_id: string
  scored: number
  failed: number
  last_run_at: string
  /** The reason of the last failure. */
  last_error: string | null
  /** When that was, and of which version; null for one that was stored before these were. */
  last_error_at: string | null
  last_error_digest: string | null
}

/** Values by which a start recognises what changed outside the database, such as the server's secret key. */
export interface SecretsTable {
  name: string
  value: string
}

/** Services that a team asks for completions. */
export interface ProvidersTable {
  entity: string
  name: string
  base_url: string
  /** Encrypted under the server's secret key; null for services that ask for none. */
  sealed_key: string | null
  updated_by: string
  updated_at: string
}

/** Training data that was uploaded by itself, and whose it is. */
export interface TrainingDataUploadsTable {
  id: string
  entity: string
  /** Where only one project may use it. */
  project: string | null
  created_by: string
  created_at: string
}

/** Every table of the control database; date-times are ISO 8601 texts, JSON values are texts. */
export interface ControlTables {
  kysely_migration: KyselyMigrationTable
  migration_checksums: MigrationChecksumsTable
  jobs: JobsTable
  usage_limits: UsageLimitsTable
  budgets: BudgetsTable
  projects: ProjectsTable
  contents: ContentsTable
  content_owners: ContentOwnersTable
  initial_adapters: InitialAdaptersTable
  models: ModelsTable
  checkpoints: CheckpointsTable
  training_jobs: TrainingJobsTable
  training_job_events: TrainingJobEventsTable
  redaction_rules: RedactionRulesTable
  redaction_hits: RedactionHitsTable
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
  monitored_calls: MonitoredCallsTable
  monitor_states: MonitorStatesTable
  secrets: SecretsTable
  providers: ProvidersTable
  training_data_uploads: TrainingDataUploadsTable
  users: UsersTable
  entities: EntitiesTable
  memberships: MembershipsTable
  api_keys: ApiKeysTable
  sessions: SessionsTable
  sign_in_links: SignInLinksTable
  user_identities: UserIdentitiesTable
  identity_providers: IdentityProvidersTable
  audit_events: AuditEventsTable
  retention_settings: RetentionSettingsTable
  erasures: ErasuresTable
  erased_projects: ErasedProjectsTable
  moves: MovesTable
}
