import type { ReactNode } from 'react'
import { pressKey } from './keys.ts'
import { Peek } from './peek.tsx'

interface RowPeekProps {
  /** The place of the row in its list, from 0. */
  index: number
  onClose: () => void
  /** To the row above or below, where no list is in view that does so by keys. */
  onMove?: (by: -1 | 1) => void
  children: ReactNode
}

/** One row of a dataset, whole, beside the list or the chart that it comes from. */
export function RowPeek({ index, onClose, onMove, children }: RowPeekProps) {
  return (
    <Peek
      name="row"
      title={<h2 className="truncate text-sm font-strong text-strong">Row {index + 1}</h2>}
      onClose={onClose}
      onMove={onMove ?? ((by) => pressKey(by === 1 ? 'j' : 'k'))}
    >
      {children}
    </Peek>
  )
}
