import { useKeys } from '../../components/keys.ts'
import { useRememberedNumber } from '../../components/remembered.ts'

/** Heights of rows, as lines of text in each. */
export const ROW_LINES = [
  { label: 'Small rows', lines: 1 },
  { label: 'Medium rows', lines: 3 },
  { label: 'Large rows', lines: 8 },
] as const

/** How many lines a row has, the same in all projects of this browser. */
export function useRowLines(): [number, (lines: number) => void] {
  const [kept, setLines] = useRememberedNumber('calls.lines', 1)
  const at = Math.max(
    0,
    ROW_LINES.findIndex(({ lines }) => lines === kept),
  )
  const step = (by: -1 | 1) => {
    const next = ROW_LINES[at + by]
    if (next !== undefined) setLines(next.lines)
  }
  useKeys('Rows', [
    { keys: '[', does: 'Lower rows', run: () => step(-1) },
    { keys: ']', does: 'Higher rows', run: () => step(1) },
  ])
  return [ROW_LINES[at]?.lines ?? 1, setLines]
}
