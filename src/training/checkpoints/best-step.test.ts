import { describe, expect, it } from 'vitest'
import { findBest } from './best-step-wire.ts'

describe('findBest', () => {
  const steps = [
    { step: 0, metrics: {} },
    { step: 1, metrics: { reward: 0.5, 'val/loss': 3 } },
    { step: 2, metrics: { reward: 0.4, 'val/loss': 2 } },
    { step: 3, metrics: { reward: 0.5, 'val/loss': 2 } },
  ]
  const best = (best_metric: string, best_mode: 'max' | 'min', of = steps) =>
    findBest({ best_metric, best_mode }, of)

  it('follows the metric of the model in its direction; of equals the later one', () => {
    expect(best('val/loss', 'min')).toMatchObject({ metric: 'val/loss', value: 2, step: { step: 3 } })
    expect(best('val/loss', 'max')).toMatchObject({ metric: 'val/loss', value: 3, step: { step: 1 } })
  })

  it('is the step with the highest reward where no step has the default metric', () => {
    for (const mode of ['max', 'min'] as const)
      expect(best('val/reward', mode)).toMatchObject({ metric: 'reward', value: 0.5, step: { step: 3 } })
    const validated = [{ step: 0, metrics: { 'val/reward': 0.1 } }, ...steps.slice(1)]
    expect(findBest({ best_metric: 'val/reward', best_mode: 'max' }, validated)?.step.step).toBe(0)
  })

  it('is none where a chosen metric, or any, is missing', () => {
    expect(best('val/rewrad', 'max')).toBeUndefined()
    expect(best('val/reward', 'max', steps.slice(0, 1))).toBeUndefined()
  })
})
