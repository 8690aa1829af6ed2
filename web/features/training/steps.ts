import type { Checkpoint, JobEvent } from '../../api/training.ts'

/** A step with its metrics; one that is being trained has no id yet. */
export interface Step {
  step: number
  metrics: Readonly<Record<string, number>>
  isProvisional: boolean
}

/** Steps for curves: finished ones, and the one in training with the means of its steps so far. */
export function stepsOf(checkpoints: readonly Checkpoint[], liveEvents: readonly JobEvent[] = []): Step[] {
  const steps: Step[] = checkpoints.map(({ step, metrics }) => ({ step, metrics, isProvisional: false }))
  const means = meanMetrics(liveEvents)
  if (Object.keys(means).length > 0)
    steps.push({ step: (checkpoints.at(-1)?.step ?? 0) + 1, metrics: means, isProvisional: true })
  return steps
}

/** What one gradient step measured. */
export function gradientSteps(events: readonly JobEvent[]): Step[] {
  return events
    .filter(({ type }) => type === 'gradient_step')
    .map(({ data }, index) => ({ step: index + 1, metrics: numbersOf(data), isProvisional: false }))
}

/** The share of a job's tokens whose context was rendered anew; undefined before the first step that reports it. */
export function rebuiltShare(steps: readonly Step[]): number | undefined {
  const known = steps.flatMap(({ metrics }) => {
    const share = metrics['on_policy/share_with_rebuilt_context']
    return share === undefined ? [] : [{ share, tokens: metrics['num_trainable_tokens'] ?? 1 }]
  })
  const tokens = known.reduce((sum, step) => sum + step.tokens, 0)
  return tokens === 0 ? undefined : known.reduce((sum, step) => sum + step.share * step.tokens, 0) / tokens
}

function meanMetrics(events: readonly JobEvent[]): Record<string, number> {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const { metrics } of gradientSteps(events)) {
    for (const [name, value] of Object.entries(metrics)) {
      const { sum, count } = sums.get(name) ?? { sum: 0, count: 0 }
      sums.set(name, { sum: sum + value, count: count + 1 })
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, count }]) => [name, sum / count]))
}

function numbersOf(data: Record<string, unknown>): Record<string, number> {
  const entries = Object.entries(data).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  )
  return Object.fromEntries(entries)
}
