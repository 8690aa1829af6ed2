import { columnResizingFeature, columnSizingFeature, tableFeatures, useTable } from '@tanstack/react-table'
import { useEffect, useMemo } from 'react'
import { recall, remember } from '../remembered.ts'
import type { TableColumn } from './column.ts'

const WIDTH_MIN = 48
const WIDTH_MAX = 1200
/** The box that ticks a row. */
const BOX_PX = 32

const features = tableFeatures({ columnSizingFeature, columnResizingFeature })

/** Rows stay outside: there may be a hundred thousand, and only columns have a state here. */
const NO_ROWS: Record<string, never>[] = []

/** A column with its width as it is now, and how to change it. */
export interface SizedColumn extends Omit<TableColumn<never>, 'cell'> {
  startResize: ((event: unknown) => void) | undefined
  setWidth: (width: number) => void
  reset: () => void
}

/** What a table draws its columns by. */
export interface ColumnModel {
  columns: SizedColumn[]
  /** Whether a column of boxes, which tick rows, comes first. */
  hasBoxes: boolean
  /** The widths of all columns, as a CSS `grid-template-columns`. */
  template: string
  /** Pixels. */
  minWidth: number
}

const areWidths = (value: unknown): value is Record<string, number> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((width) => typeof width === 'number')

/**
 * The widths of columns: dragged, remembered, and given to all rows at once as one CSS variable, so that a drag draws
 * no row again.
 */
export function useColumnModel<Row>(
  memory: string,
  columns: readonly TableColumn<Row>[],
  hasBoxes: boolean,
): ColumnModel {
  const key = `widths.${memory}`
  const definitions = useMemo(
    () =>
      columns.map(({ id, title, width }) => ({
        id,
        header: title,
        size: width,
        minSize: WIDTH_MIN,
        maxSize: WIDTH_MAX,
      })),
    [columns],
  )
  const initialState = useMemo(() => ({ columnSizing: recall(key, areWidths) ?? {} }), [key])
  const table = useTable({
    features,
    columns: definitions,
    data: NO_ROWS,
    columnResizeMode: 'onChange',
    initialState,
  })
  const widths = table.state.columnSizing
  useEffect(() => remember(key, widths), [key, widths])
  const headers = table.getHeaderGroups()[0]?.headers ?? []
  const sized = columns.map((column, index) => {
    const width = headers[index]?.getSize() ?? column.width
    return { column, width, grows: column.grows === true && widths[column.id] === undefined }
  })
  const boxes = hasBoxes ? BOX_PX : 0
  const tracks = sized.map(({ width, grows }) => (grows ? `minmax(${width}px, 1fr)` : `${width}px`))
  return {
    columns: sized.map(({ column, width }, index) => ({
      ...column,
      width,
      startResize: headers[index]?.getResizeHandler(),
      setWidth: (next: number) =>
        table.setColumnSizing((old) => ({
          ...old,
          [column.id]: Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, next)),
        })),
      reset: () => table.setColumnSizing(({ [column.id]: _gone, ...others }) => others),
    })),
    hasBoxes,
    template: [...(hasBoxes ? [`${BOX_PX}px`] : []), ...tracks].join(' '),
    minWidth: boxes + sized.reduce((sum, { width }) => sum + width, 0),
  }
}
