import { expect, it } from 'vitest'
import type { Job } from './training.ts'
import { areComplete, attemptsOf, type Turn, turnsPollMs } from './trajectories.ts'

function turn(group: number, trajectory: number | undefined, turn = 0): Turn {
  const place = { split: 'train', group, history: 0, turn, reward: 0 }
  const isAttempt = trajectory !== undefined
  return {
    id: `${group}/${trajectory}/${turn}`,
    place: isAttempt ? { ...place, trajectory } : place,
    exception: isAttempt ? null : 'ValueError',
  }
}

const TURNS = [turn(0, 0), turn(0, 0, 1), turn(0, 1), turn(1, undefined)]

const job = (counts: Job['counts'], more: Partial<Job> = {}): Job =>
  // Nothing else of a job is read.
  ({ state: 'succeeded', created_at: new Date().toISOString(), counts, ...more }) as Job

it('counts attempts and exceptions against those that the job was sent', () => {
  expect(attemptsOf(TURNS)).toBe(2)
  expect(areComplete(TURNS, job({ trajectories: 2, exceptions: 1 }))).toBe(true)
  expect(areComplete(TURNS, job({ trajectories: 3, exceptions: 1 }))).toBe(false)
  expect(areComplete(TURNS, job({ trajectories: 2, exceptions: 2 }))).toBe(false)
  expect(areComplete([], job({ trajectories: 0 }))).toBe(false)
})

it('polls until all are there, and ever more seldom for what does not come', () => {
  const part = { trajectories: 8, exceptions: 1 }
  expect(turnsPollMs(TURNS, job(part))).toBe(3_000)
  expect(turnsPollMs(TURNS, job({ trajectories: 2, exceptions: 1 }))).toBe(false)
  expect(turnsPollMs(TURNS, job({ trajectories: 2 }, { state: 'running' }))).toBe(3_000)
  const created_at = new Date(Date.now() - 86_400_000).toISOString()
  expect(turnsPollMs(TURNS, job(part, { created_at }))).toBeGreaterThan(3_600_000)
})
