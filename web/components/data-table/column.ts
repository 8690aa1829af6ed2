import type { ReactNode } from 'react'

/** One column of a table. */
export interface TableColumn<Row> {
  id: string
  title: string
  /** Pixels, until a person drags it. */
  width: number
  /** Takes what is left of the table's width. */
  grows?: boolean
  /** Numbers stand at the end. */
  align?: 'start' | 'end'
  isSortable?: boolean
  /** A text that takes as many lines as a row has; other cells have one. */
  wraps?: boolean
  /** What the row is about: the link to its page, so that it has no other link. */
  isName?: boolean
  cell: (row: Row) => ReactNode
}

export interface Sort {
  column: string
  direction: 'asc' | 'desc'
}
