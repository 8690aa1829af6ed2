import { SmallPlot } from '../../../components/bars.tsx'
import { formatNumber } from '../../../components/format.ts'
import type { Group } from './groups.ts'

const WIDTH = 150
const HEIGHT = 20
const PAD = 6

/** One dot an attempt, from the smallest reward of the step to the largest; the mean is a line. */
export function StripPlot({ group, range: [min, max] }: { group: Group; range: [number, number] }) {
  const x = (reward: number) => PAD + ((reward - min) / (max - min || 1)) * (WIDTH - 2 * PAD)
  const rewards = group.attempts.map(({ reward }) => reward)
  const label = `${rewards.length} rewards from ${formatNumber(rewards.at(-1))} to ${formatNumber(rewards[0])}`
  return (
    <SmallPlot label={label} width={WIDTH} height={HEIGHT}>
      <line x1={PAD} x2={WIDTH - PAD} y1={HEIGHT / 2} y2={HEIGHT / 2} stroke="var(--hair)" />
      <line
        x1={x(group.mean)}
        x2={x(group.mean)}
        y1={3}
        y2={HEIGHT - 3}
        stroke="var(--muted)"
        strokeWidth="1.5"
      />
      {group.attempts.map(({ trajectory, reward }, index) => (
        <circle
          key={trajectory}
          cx={x(reward)}
          // Equal rewards would hide each other.
          cy={HEIGHT / 2 + ((index % 3) - 1) * 3}
          r="3"
          fill="var(--accent)"
          fillOpacity="0.55"
        />
      ))}
    </SmallPlot>
  )
}
