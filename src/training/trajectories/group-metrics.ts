import type { TrajectoryGroup } from './wire.ts'

/** Computes the metrics of a split from its groups, one after the other. */
export interface GroupMetrics {
  add(group: TrajectoryGroup): void
  /**
   * By `split/name`: mean reward, the mean over groups of the deviation of rewards inside a group, the share of
   * attempts that ended in an exception, and the mean of every metric that trajectories or groups (`group_…`) carry. A
   * metric that overflows is left out: JSON has no infinity.
   */
  result(split: string): Record<string, number>
}

export function createGroupMetrics(): GroupMetrics {
  const means = new Map<string, { sum: number; count: number }>()
  let attempts = 0
  let exceptions = 0

  function addTo(name: string, value: number): void {
    const mean = means.get(name) ?? { sum: 0, count: 0 }
    means.set(name, { sum: mean.sum + value, count: mean.count + 1 })
  }

  function addAll(prefix: string, metrics: Record<string, number | boolean> | null | undefined): void {
    for (const [name, value] of Object.entries(metrics ?? {})) addTo(prefix + name, Number(value))
  }

  return {
    add(group) {
      const rewards = group.trajectories.map((trajectory) => trajectory.reward)
      for (const reward of rewards) addTo('reward', reward)
      if (rewards.length > 0) addTo('reward_std_dev', deviation(rewards))
      for (const trajectory of group.trajectories) addAll('', trajectory.metrics)
      addAll('group_', group.metrics)
      exceptions += group.exceptions?.length ?? 0
      attempts += rewards.length + (group.exceptions?.length ?? 0)
    },
    result(split) {
      const entries = [...means].map(([name, { sum, count }]) => [`${split}/${name}`, sum / count])
      const rate = attempts === 0 ? [] : [[`${split}/exception_rate`, exceptions / attempts]]
      return Object.fromEntries([...entries, ...rate].filter(([, value]) => Number.isFinite(value)))
    },
  }
}

/** Population standard deviation. */
function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}
