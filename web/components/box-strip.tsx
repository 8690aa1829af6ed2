import { spreadOf } from './spread.ts'

const HEIGHT = 28

/** Percent of the width that stay free on each side, so that no dot is cut. */
const PAD = 2

interface BoxStripProps {
  values: readonly number[]
  /** Where the drawing begins and ends, the same for all that are compared. */
  range: readonly [number, number]
  /** Says in words what is drawn. */
  label: string
  color: string
}

/** A dot for each value over a box of the middle half, the median as a line in it. As wide as there is room. */
export function BoxStrip({ values, range: [min, max], label, color }: BoxStripProps) {
  const spread = spreadOf(values)
  const x = (value: number) => `${PAD + ((value - min) / (max - min || 1)) * (100 - 2 * PAD)}%`
  const middle = HEIGHT / 2
  return (
    <svg role="img" aria-label={label} width="100%" height={HEIGHT} className="block">
      <line x1={x(min)} x2={x(max)} y1={middle} y2={middle} stroke="var(--hair)" />
      {spread !== undefined && (
        <>
          <rect
            x={x(spread.q1)}
            width={`${((spread.q3 - spread.q1) / (max - min || 1)) * (100 - 2 * PAD)}%`}
            y={4}
            height={HEIGHT - 8}
            rx="2"
            fill={color}
            fillOpacity="0.16"
            stroke={color}
            strokeOpacity="0.6"
          />
          {values.map((value, index) => (
            <circle
              // biome-ignore lint/suspicious/noArrayIndexKey: a dot is its place
              key={index}
              cx={x(value)}
              // Equal values would hide each other.
              cy={middle + ((index % 5) - 2) * 3.2}
              r="2"
              fill={color}
              fillOpacity="0.4"
            />
          ))}
          <line
            x1={x(spread.median)}
            x2={x(spread.median)}
            y1={2}
            y2={HEIGHT - 2}
            stroke="var(--strong)"
            strokeWidth="2"
          />
        </>
      )}
    </svg>
  )
}
