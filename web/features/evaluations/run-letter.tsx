/** A run of a comparison wherever it is shown: a letter and a colour, the same in every part of the page. */
export function RunLetter({ index }: { index: number }) {
  return (
    <span
      aria-hidden
      className="inline-flex size-4 shrink-0 items-center justify-center rounded-sm bg-inset text-2xs font-strong text-strong"
      style={{ boxShadow: `inset 0 -2px 0 ${runColor(index)}` }}
    >
      {letterOf(index)}
    </span>
  )
}

/** Of lines and dots. */
export function runColor(index: number): string {
  return RUN_COLORS[index % RUN_COLORS.length] ?? 'var(--accent)'
}

export function letterOf(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index)
}

/** Neighbours have different hues, and each is distinct in light and dark. */
const RUN_COLORS = [
  'oklch(0.6 0.13 250)',
  'oklch(0.65 0.15 60)',
  'oklch(0.6 0.13 160)',
  'oklch(0.58 0.17 330)',
  'oklch(0.6 0.1 210)',
  'oklch(0.62 0.16 25)',
  'oklch(0.6 0.13 120)',
  'oklch(0.55 0.15 290)',
]
