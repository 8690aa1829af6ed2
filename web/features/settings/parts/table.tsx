import type { ReactNode } from 'react'
import { useIsNarrow } from '../../../components/media.ts'

interface TableProps {
  label: string
  /** The first names a row, and an empty one is that of what can be done with it. */
  headings: readonly string[]
  rows: readonly { key: string; cells: readonly ReactNode[] }[]
}

/** A short list, all of it on one page and with buttons in its rows; {@link DataTable} is for long ones. */
export function Table({ label, headings, rows }: TableProps) {
  const isNarrow = useIsNarrow()
  if (isNarrow) return <NarrowList label={label} headings={headings} rows={rows} />
  return (
    <section
      className="thin-scroll w-full shrink-0 overflow-x-auto"
      aria-label={label} // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
      tabIndex={0}
    >
      <table className="w-full text-sm" aria-label={label}>
        <thead>
          <tr className="h-7 border-b border-hair text-xs text-muted">
            {headings.map((heading) => (
              <th key={heading} scope="col" className="pe-4 text-start font-normal whitespace-nowrap">
                {heading === '' ? <span className="sr-only">Actions</span> : heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key} className="h-9 border-b border-hair/60">
              {cells.map((cell, column) => (
                <td
                  key={headings[column]}
                  className="pe-4 align-middle whitespace-nowrap text-normal first:text-strong last:pe-0 last:text-end"
                >
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The same on a phone: what names a row, and the rest below it. */
function NarrowList({ label, headings, rows }: TableProps) {
  return (
    <ul aria-label={label} className="divide-y divide-hair border-y border-hair">
      {rows.map(({ key, cells }) => (
        <li key={key} className="flex items-start gap-2 py-2">
          <div className="flex min-w-0 flex-1 flex-col gap-1">
            <div className="truncate text-strong">{cells[0]}</div>
            <dl className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs">
              {headings.map((heading, column) =>
                column === 0 || heading === '' ? null : (
                  <div key={heading} className="flex min-w-0 items-center gap-1">
                    <dt className="text-muted">{heading}</dt>
                    <dd className="min-w-0 truncate text-normal">{cells[column]}</dd>
                  </div>
                ),
              )}
            </dl>
          </div>
          {headings.at(-1) === '' && cells.at(-1)}
        </li>
      ))}
    </ul>
  )
}
