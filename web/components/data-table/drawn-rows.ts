import type { RowSlot } from './row-slots.ts'

/** Rows whose content changes in one frame: the layout of a screen full of them takes longer than a frame has. */
export const ROWS_PER_FRAME = 16

/** What an element shows; without a row it keeps the place of one that comes. */
export interface DrawnRow<Row> extends RowSlot {
  row: Row | undefined
}

interface Drawn<Row> {
  rows: DrawnRow<Row>[]
  /** Whether every row that is there is shown. */
  isComplete: boolean
}

/**
 * What the elements of a table show next: the new content of a frame's worth of rows, from the top. The others show
 * what they did, where it was of the same place, and nothing otherwise, until a later frame.
 * @param before what the elements show now
 */
export function drawRows<Row>(
  before: readonly DrawnRow<Row>[],
  slots: readonly RowSlot[],
  rowAt: (index: number) => Row | undefined,
): Drawn<Row> {
  const shown = new Map(before.map((each) => [each.key, each]))
  const rows = slots.map(({ key, index }) => {
    const old = shown.get(key)
    const isSame = old?.index === index
    return { key, index, row: isSame ? old.row : undefined, next: rowAt(index) }
  })
  const changing = rows.filter(({ row, next }) => next !== undefined && next !== row)
  const now = new Set(changing.sort((a, b) => a.index - b.index).slice(0, ROWS_PER_FRAME))
  return {
    rows: rows.map((each) => ({
      key: each.key,
      index: each.index,
      row: each.next === undefined || now.has(each) ? each.next : each.row,
    })),
    isComplete: changing.length <= ROWS_PER_FRAME,
  }
}
