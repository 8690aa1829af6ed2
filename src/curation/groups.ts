import type { Tally } from './left-out.ts'
import type { Row } from './rows.ts'

/**
 * Rewards that differ from their mean by less than this, relative to its size, are equal: the trainer treats smaller
 * differences as noise.
 */
const SPREAD_MIN = 1e-9

/** Attempts at one task, as rows of the dataset and as a group to train on. */
export interface Group {
  rows: Row[]
  text: string
}

/**
 * Groups attempts at the same task, in the order of the first attempt; a group without differing rewards is left out.
 */
export function groupsOf(rows: readonly Row[], tally: Tally): Group[] {
  const groups: Group[] = []
  const byTask = Map.groupBy(rows, ({ trajectory }) => trajectory?.group ?? '')
  for (const members of byTask.values()) {
    const reason = whyNothingIsLearnt(members)
    if (reason === undefined) groups.push({ rows: members, text: groupText(members) })
    else for (const { callId } of members) tally.add(reason, callId)
  }
  return groups
}

function whyNothingIsLearnt(members: readonly Row[]): string | undefined {
  if (members.length < 2) return 'is the only attempt at its prompt'
  const rewards = members.map(({ trajectory }) => trajectory?.reward ?? 0)
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
  const spread = rewards.reduce((most, reward) => Math.max(most, Math.abs(reward - mean)), 0)
  const isEqual = spread <= SPREAD_MIN * Math.max(1, Math.abs(mean))
  return isEqual ? 'has the same reward as every attempt at its prompt' : undefined
}

function groupText(members: readonly Row[]): string {
  const trajectories = members.map(({ trajectory }) => trajectory?.text ?? '')
  return `{"trajectories":[${trajectories.join(',')}],"exceptions":[],"metadata":{},"metrics":{},"logs":[]}`
}
