/**
 * The messages between the server and a trainer worker: one JSON object a line, requests in, messages out.
 * The truth for both languages: `npm run gen` writes `contract/job.schema.json` and the engine's `contract.py`.
 * No field is optional: the server fills in every default, so the worker knows none.
 */
import { z } from 'zod'

/** The shape of a fresh adapter. */
export const LoraSpec = z
  .strictObject({
    rank: z.int(),
    alpha: z.int(),
    target_modules: z.array(z.string()),
    seed: z.int(),
  })
  .meta({ id: 'LoraSpec' })

/** Asks for an adapter that changes nothing yet, written to `output_dir`. */
export const CreateAdapter = z
  .strictObject({
    kind: z.literal('create_adapter'),
    request_id: z.string(),
    output_dir: z.string(),
    lora: LoraSpec,
  })
  .meta({ id: 'CreateAdapter' })

/** How an RL job turns rewards into gradients; null means that the mechanism is off or follows from the others. */
export const RlConfig = z
  .strictObject({
    learning_rate: z.number(),
    advantage_balance: z.number(),
    scale_rewards: z.boolean(),
    ppo: z.boolean(),
    epsilon: z.number().nullable(),
    epsilon_high: z.number().nullable(),
    importance_sampling_level: z.enum(['token', 'sequence', 'average', 'geometric_average']),
    max_negative_advantage_importance_sampling_weight: z.number().nullable(),
    mask_prob_ratio: z.boolean(),
    kimi_k2_tau: z.number().nullable(),
    precalculate_logprobs: z.boolean(),
    packed_sequence_length: z.int(),
    seed: z.int(),
  })
  .meta({ id: 'RlConfig' })
export type RlConfig = z.output<typeof RlConfig>

/** Asks for one RL job: from the checkpoint in `checkpoint_dir` to a new one in `output_dir`. */
export const RlJob = z
  .strictObject({
    kind: z.literal('rl_job'),
    job_id: z.string(),
    checkpoint_dir: z.string(),
    output_dir: z.string(),
    trajectory_groups_path: z.string(),
    config: RlConfig,
  })
  .meta({ id: 'RlJob' })

/** Asks that a job stop within one gradient step. */
export const CancelJob = z
  .strictObject({ kind: z.literal('cancel_job'), job_id: z.string() })
  .meta({ id: 'CancelJob' })

/** What the server sends. */
export const WorkerRequest = z
  .discriminatedUnion('kind', [CreateAdapter, RlJob, CancelJob])
  .meta({ id: 'WorkerRequest' })
export type WorkerRequest = z.output<typeof WorkerRequest>

/** A worker's first message: the base model is in memory. */
export const WorkerReady = z
  .strictObject({
    kind: z.literal('worker_ready'),
    base_model: z.string(),
    device: z.string(),
    dtype: z.string(),
  })
  .meta({ id: 'WorkerReady' })

export const AdapterCreated = z
  .strictObject({ kind: z.literal('adapter_created'), request_id: z.string(), directory: z.string() })
  .meta({ id: 'AdapterCreated' })

export const RequestFailed = z
  .strictObject({ kind: z.literal('request_failed'), request_id: z.string(), error_message: z.string() })
  .meta({ id: 'RequestFailed' })

const ofJob = { job_id: z.string(), sequence: z.int() }
const Metrics = z.record(z.string(), z.number())

/** The heartbeat of a job. */
export const JobProgress = z
  .strictObject({
    kind: z.literal('job_progress'),
    ...ofJob,
    phase: z.enum(['loading', 'tokenizing', 'training', 'saving']),
    done: z.int(),
    total: z.int(),
  })
  .meta({ id: 'JobProgress' })

/** Comes once a job, before its first gradient step; `num_sequences` gradient steps follow. */
export const TrainingStarted = z
  .strictObject({ kind: z.literal('training_started'), ...ofJob, num_sequences: z.int() })
  .meta({ id: 'TrainingStarted' })

export const GradientStep = z
  .strictObject({ kind: z.literal('gradient_step'), ...ofJob, metrics: Metrics })
  .meta({ id: 'GradientStep' })

/** The job's last message when it went well: the files of the new checkpoint are complete. */
export const CheckpointSaved = z
  .strictObject({
    kind: z.literal('checkpoint_saved'),
    ...ofJob,
    directory: z.string(),
    metrics: Metrics,
  })
  .meta({ id: 'CheckpointSaved' })

export const JobFailed = z
  .strictObject({ kind: z.literal('job_failed'), ...ofJob, error_message: z.string() })
  .meta({ id: 'JobFailed' })

export const JobCancelled = z
  .strictObject({ kind: z.literal('job_cancelled'), ...ofJob })
  .meta({ id: 'JobCancelled' })

/** What a worker sends. */
export const WorkerMessage = z
  .discriminatedUnion('kind', [
    WorkerReady,
    AdapterCreated,
    RequestFailed,
    JobProgress,
    TrainingStarted,
    GradientStep,
    CheckpointSaved,
    JobFailed,
    JobCancelled,
  ])
  .meta({ id: 'WorkerMessage' })
export type WorkerMessage = z.output<typeof WorkerMessage>
