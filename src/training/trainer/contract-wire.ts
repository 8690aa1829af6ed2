/**
 * The messages between the server and a trainer worker: one JSON object a line, requests in, messages out. The
 * definition for both languages: `npm run gen` writes `contract/job.schema.json` and the engine's `contract.py`. No
 * field is optional: the server fills in every default, so the worker needs none. Files and folders have the names of
 * the workspace, such as `outputs/01a1…`: paths relative to its root, in which the worker works.
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

/** Requests an initial adapter, which changes nothing, written to `output_dir`. */
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
    normalize_advantages: z.boolean(),
    truncated_importance_sampling: z.number().nullable(),
    kl_penalty_coef: z.number().nullable(),
    kl_penalty_source: z.enum(['current_learner', 'sample']),
    num_trajectories_learning_rate_multiplier_power: z.number(),
    allow_training_without_logprobs: z.boolean(),
    require_sampled_context: z.boolean(),
    packed_sequence_length: z.int().nullable(),
    gradient_steps: z.int().nullable(),
    seed: z.int(),
  })
  .meta({ id: 'RlConfig' })
export type RlConfig = z.output<typeof RlConfig>

/**
 * Every job goes from the checkpoint in `checkpoint_dir` to a new one in `output_dir`. `work_dir` is the job's own: the
 * worker keeps its state after each gradient step there, and a job that is sent again continues from it.
 */
const anyJob = {
  job_id: z.string(),
  checkpoint_dir: z.string(),
  output_dir: z.string(),
  work_dir: z.string(),
}

/**
 * Requests one RL job. `model` is ENTITY/PROJECT/NAME, to tell its answers from those of other models; `policy_step` is
 * the step of the checkpoint, to compute the age of the rollouts; `reference_dir` is the checkpoint that the KL penalty
 * refers to, null for the base model.
 */
export const RlJob = z
  .strictObject({
    kind: z.literal('rl_job'),
    ...anyJob,
    model: z.string(),
    policy_step: z.int(),
    reference_dir: z.string().nullable(),
    trajectory_groups_path: z.string(),
    config: RlConfig,
  })
  .meta({ id: 'RlJob' })

/** One learning rate for all batches, or one for each in order. */
export const SftConfig = z
  .strictObject({
    batch_size: z.int(),
    learning_rate: z.union([z.number(), z.array(z.number())]),
    assistant_turns: z.enum(['all', 'last']),
  })
  .meta({ id: 'SftConfig' })
export type SftConfig = z.output<typeof SftConfig>

/** Requests one SFT job: one conversation a line of `data_path`, batch after batch in the file's order. */
export const SftJob = z
  .strictObject({ kind: z.literal('sft_job'), ...anyJob, data_path: z.string(), config: SftConfig })
  .meta({ id: 'SftJob' })

/** Requests the base model with the adapter of `checkpoint_dir` merged into it, written to `output_dir`. */
export const MergeAdapter = z
  .strictObject({
    kind: z.literal('merge_adapter'),
    request_id: z.string(),
    checkpoint_dir: z.string(),
    output_dir: z.string(),
  })
  .meta({ id: 'MergeAdapter' })

/** Requests that the base model leave the GPU for the memory of the machine, sent between other requests. */
export const Sleep = z
  .strictObject({ kind: z.literal('sleep'), request_id: z.string() })
  .meta({ id: 'Sleep' })

/** Requests that the base model return; until then no other request is sent. */
export const Wake = z.strictObject({ kind: z.literal('wake'), request_id: z.string() }).meta({ id: 'Wake' })

/** Requests that a job stop within one gradient step. */
export const CancelJob = z
  .strictObject({ kind: z.literal('cancel_job'), job_id: z.string() })
  .meta({ id: 'CancelJob' })

/** Messages of the server. */
export const WorkerRequest = z
  .discriminatedUnion('kind', [CreateAdapter, RlJob, SftJob, MergeAdapter, Sleep, Wake, CancelJob])
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

/**
 * The first and last message of a worker that could not be started however often it were: its base model is not there,
 * or cannot be trained. One that may be started later, because memory or the hub is missing now, ends without a
 * message.
 */
export const BaseModelUnusable = z
  .strictObject({ kind: z.literal('base_model_unusable'), error_message: z.string() })
  .meta({ id: 'BaseModelUnusable' })

export const AdapterCreated = z
  .strictObject({ kind: z.literal('adapter_created'), request_id: z.string(), directory: z.string() })
  .meta({ id: 'AdapterCreated' })

/**
 * `logprob_gap_max`: over some sample texts, the difference of the merged model from the base in full precision with
 * its adapter, in nats.
 */
export const AdapterMerged = z
  .strictObject({
    kind: z.literal('adapter_merged'),
    request_id: z.string(),
    directory: z.string(),
    logprob_gap_max: z.number(),
  })
  .meta({ id: 'AdapterMerged' })

/** The GPU's memory is free, but for what the process itself takes. */
export const Asleep = z
  .strictObject({ kind: z.literal('asleep'), request_id: z.string() })
  .meta({ id: 'Asleep' })

export const Awake = z
  .strictObject({ kind: z.literal('awake'), request_id: z.string() })
  .meta({ id: 'Awake' })

/** The heartbeat of a request that takes long. */
export const RequestProgress = z
  .strictObject({
    kind: z.literal('request_progress'),
    request_id: z.string(),
    done: z.int(),
    total: z.int(),
  })
  .meta({ id: 'RequestProgress' })

/** `error_field`: the path of the field at fault; null where the request is not at fault. */
export const RequestFailed = z
  .strictObject({
    kind: z.literal('request_failed'),
    request_id: z.string(),
    error_message: z.string(),
    error_field: z.string().nullable(),
  })
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

/** Sent once a job, before its first gradient step; `num_sequences` gradient steps follow. */
export const TrainingStarted = z
  .strictObject({ kind: z.literal('training_started'), ...ofJob, num_sequences: z.int() })
  .meta({ id: 'TrainingStarted' })

/**
 * A step was taken. Its state is kept soon after: a job that is sent again may take its last steps again, with the same
 * results.
 */
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

/** Messages of a worker. */
export const WorkerMessage = z
  .discriminatedUnion('kind', [
    WorkerReady,
    BaseModelUnusable,
    AdapterCreated,
    AdapterMerged,
    Asleep,
    Awake,
    RequestProgress,
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
