import { describe, expect, it } from 'vitest'
import type { Checkpoint } from '../../api/training.ts'
import { panelsOf } from './panels.ts'
import { stepsOf } from './steps.ts'

function checkpoint(step: number, metrics: Record<string, number>): Checkpoint {
  const created_at = '2026-01-01T00:00:00Z'
  return { id: String(step), step, metrics, tags: [], job_id: null, dataset_ref: null, created_at }
}

describe('stepsOf', () => {
  it('ends with the means of what is being trained', () => {
    const event = (loss: number) => ({ id: String(loss), type: 'gradient_step' as const, data: { loss } })
    const steps = stepsOf([checkpoint(3, { loss: 1 })], [event(2), event(4)])
    expect(steps.at(-1)).toEqual({ step: 4, metrics: { loss: 3 }, isProvisional: true })
  })
})

describe('panelsOf', () => {
  it('puts the reward first, with a band, and unknown metrics last', () => {
    const panels = panelsOf(stepsOf([checkpoint(1, { zeta: 1, loss: 2, reward: 0.5, reward_std_dev: 0.1 })]))
    expect(panels.map(({ title }) => title)).toEqual(['Reward', 'Loss', 'zeta'])
    expect(panels[0]?.lines[0]?.band).toEqual({ low: [0.4], high: [0.6] })
  })

  it('says in words when the newest value crosses a limit', () => {
    const metrics = (clipped: number) => ({ 'on_policy/share_clipped': clipped })
    const noteOf = (...values: number[]) =>
      panelsOf(stepsOf(values.map((value, index) => checkpoint(index, metrics(value)))))[0]?.note
    expect(noteOf(0.1, 0.3)).toMatchObject({ tone: 'warn', text: expect.stringContaining('clip range') })
    expect(noteOf(0.3, 0.1)).toMatchObject({ tone: 'quiet' })
  })

  it('adds to a limit what rounding makes', () => {
    const metrics = { 'on_policy/logprob_gap_mean': 0.05, 'on_policy/logprob_gap_of_rounding': 0.08 }
    const [panel, ...others] = panelsOf(stepsOf([checkpoint(1, metrics)]))
    expect(panel).toMatchObject({ threshold: 0.1, note: { tone: 'quiet' } })
    expect(others).toEqual([])
  })

  it('shows and names tokens whose context was rendered anew', () => {
    const [panel] = panelsOf(stepsOf([checkpoint(1, { 'on_policy/share_with_rebuilt_context': 0.25 })]))
    expect(panel).toMatchObject({ title: 'Context rendered anew', note: { tone: 'warn' } })
    expect(panel?.format?.(0.25)).toMatch(/^25.*%$/)
  })

  it('knows groups without a difference from the counts', () => {
    const metrics = { num_groups_submitted: 8, num_groups_trainable: 2 }
    const panel = panelsOf(stepsOf([checkpoint(1, metrics)])).find(({ title }) => title.startsWith('Groups'))
    expect(panel?.lines[0]?.values).toEqual([0.75])
    expect(panel?.note?.tone).toBe('warn')
  })
})
