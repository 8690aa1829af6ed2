import { expect, it } from 'vitest'
import type { Turn } from '../../../api/trajectories.ts'
import { answerOf, groupsOf, promptOf, rewardRange, sortGroups } from './groups.ts'

function turn(group: number, trajectory: number, reward: number, more: Partial<Turn> = {}): Turn {
  const place = { split: 'train', group, trajectory, history: 0, turn: 0, reward }
  return { id: `${group}/${trajectory}`, place, exception: null, ...more }
}

const TURNS = [
  turn(0, 0, 1),
  turn(0, 1, 0),
  turn(0, 1, 0),
  turn(1, 0, 0.5),
  turn(1, 1, 0.5),
  turn(1, 0, 0, { exception: 'ValueError' }),
]

it('groups turns by task, the best attempt first', () => {
  const [first, second] = groupsOf(TURNS, { isComplete: true })
  expect(first).toMatchObject({ group: 0, mean: 0.5, spread: 0.5, exceptions: 0 })
  expect(first?.attempts).toEqual([
    { trajectory: 0, reward: 1, turns: 1 },
    { trajectory: 1, reward: 0, turns: 2 },
  ])
  expect(second).toMatchObject({ mean: 0.5, spread: 0, exceptions: 1 })
})

it('sorts groups both ways, and knows the range of all rewards', () => {
  const groups = groupsOf(TURNS, { isComplete: true })
  expect(sortGroups(groups, '-spread').map(({ group }) => group)).toEqual([0, 1])
  expect(sortGroups(groups, 'spread').map(({ group }) => group)).toEqual([1, 0])
  expect(sortGroups(groups, '-reward').map(({ group }) => group)).toEqual([0, 1])
  expect(rewardRange(groups)).toEqual([0, 1])
  expect(rewardRange([])).toEqual([0, 1])
})

it('finds what was asked and what was answered, in texts and in parts', () => {
  const asked = turn(0, 0, 1, {
    inputs: {
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: [{ type: 'text', text: '2 + 2?' }] },
      ],
    },
    output: { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: '4' } }] },
  })
  expect(promptOf(asked)).toBe('2 + 2?')
  expect(answerOf(asked)?.content).toBe('4')
  expect(promptOf(turn(0, 0, 1))).toBe('')
})

it('says of the last group that it may grow, until all turns are there', () => {
  const growing = (isComplete: boolean) => groupsOf(TURNS, { isComplete }).map((group) => group.isGrowing)
  expect(growing(false)).toEqual([false, true])
  expect(growing(true)).toEqual([false, false])
  expect(groupsOf([], { isComplete: false })).toEqual([])
})
