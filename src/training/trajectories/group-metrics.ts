import type { TrajectoryGroup } from './wire.ts'

/** What the metrics of some groups add up to. */
export interface MetricSums {
  values: Map<string, { sum: number; count: number }>
  attempts: number
  exceptions: number
}

/** Computes the metrics of a split from the sums of its groups. */
export interface GroupMetrics {
  add(group: MetricSums): void
  /**
   * By `split/name`: mean reward, the mean over groups of the deviation of rewards inside a group, the share of
   * attempts that ended in an exception, and the mean of every metric that trajectories or groups (`group_…`) carry. A
   * metric that overflows is left out: JSON has no infinity.
   */
  result(split: string): Record<string, number>
}

export function createGroupMetrics(): GroupMetrics {
  const all = noSums()

  return {
    add({ values, attempts, exceptions }) {
      for (const [name, { sum, count }] of values) addTo(all, name, sum, count)
      all.attempts += attempts
      all.exceptions += exceptions
    },
    result(split) {
      const { values, attempts, exceptions } = all
      const entries = [...values].map(([name, { sum, count }]) => [`${split}/${name}`, sum / count])
      const rate = attempts === 0 ? [] : [[`${split}/exception_rate`, exceptions / attempts]]
      return Object.fromEntries([...entries, ...rate].filter(([, value]) => Number.isFinite(value)))
    },
  }
}

/** Those of one group. */
export function sumsOf({ trajectories, metrics, exceptions }: TrajectoryGroup): MetricSums {
  const sums = noSums()
  const addAll = (prefix: string, values: Record<string, number | boolean> | null | undefined): void => {
    for (const [name, value] of Object.entries(values ?? {})) addTo(sums, prefix + name, Number(value))
  }
  const rewards = trajectories.map(({ reward }) => reward)
  for (const reward of rewards) addTo(sums, 'reward', reward)
  if (rewards.length > 0) addTo(sums, 'reward_std_dev', deviation(rewards))
  for (const trajectory of trajectories) addAll('', trajectory.metrics)
  addAll('group_', metrics)
  sums.exceptions = exceptions?.length ?? 0
  sums.attempts = rewards.length + sums.exceptions
  return sums
}

function noSums(): MetricSums {
  return { values: new Map(), attempts: 0, exceptions: 0 }
}

function addTo({ values }: MetricSums, name: string, sum: number, count = 1): void {
  const before = values.get(name) ?? { sum: 0, count: 0 }
  values.set(name, { sum: before.sum + sum, count: before.count + count })
}

/** Population standard deviation. */
function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}
