import type { StepWarning } from './on-policy.ts'

/** What of the data of a gradient step was not trained on, from its metrics. */
export function dataWarnings(metrics: Readonly<Record<string, number>>): StepWarning[] {
  const value = metrics['num_trajectories_without_reasoning'] ?? 0
  if (value === 0) return []
  return [
    {
      code: 'reasoning_left_out',
      message:
        'Some assistant turns have reasoning that the chat template of the base model does not print, so they are trained on without it. For a model that is to think, take a base model whose template prints it, or write it into the content of the turns.',
      value,
      threshold: 0,
    },
  ]
}
