import type { StepWarning } from './on-policy.ts'

type Metrics = Readonly<Record<string, number>>

/** What of the data of a gradient step was not trained on, from its metrics. */
export function dataWarnings(metrics: Metrics): StepWarning[] {
  return warningOf(REASONING, metrics)
}

/** What of the data of a whole job was not trained on, from the metrics of the job. */
export function jobWarnings(metrics: Metrics): StepWarning[] {
  const isTrained = (metrics['num_trainable_tokens'] ?? 0) > 0
  return (isTrained ? DROPPED : [NOTHING, ...DROPPED]).flatMap((rule) => warningOf(rule, metrics))
}

interface Rule {
  code: string
  /** A count; any above 0 warns. */
  metric: string
  message: string
}

const REASONING: Rule = {
  code: 'reasoning_left_out',
  metric: 'num_trajectories_without_reasoning',
  message:
    'Some assistant turns have reasoning that the chat template of the base model does not print, so they are trained on without it. For a model that is to think, take a base model whose template prints it, or write it into the content of the turns.',
}

/** For a job without a trainable token. One whose trajectories have no advantages drops none. */
const NOTHING: Rule = {
  code: 'nothing_trainable',
  metric: 'num_dropped_trajectories',
  message:
    'Nothing in the data of this job could be trained on, so the new step has the weights of the one before. Trajectories need choices with log-probabilities: sample with logprobs=true and send choices as they came, or set allow_training_without_logprobs. Conversations need assistant turns. Both must fit into the context of the model.',
}

const DROPPED: readonly Rule[] = [
  {
    code: 'sequences_too_long',
    metric: 'num_sequences_too_long',
    message:
      'Some conversations are longer than the context of the model and were left out. Train on shorter ones.',
  },
  {
    code: 'unknown_tokens',
    metric: 'num_sequences_with_unknown_tokens',
    message:
      'Some conversations have tokens that the base model has no embedding of and were left out. Were they sampled from another model?',
  },
]

function warningOf({ code, metric, message }: Rule, metrics: Metrics): StepWarning[] {
  const value = metrics[metric] ?? 0
  return value > 0 ? [{ code, message, value, threshold: 0 }] : []
}
