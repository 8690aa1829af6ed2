import type { ReactNode } from 'react'

/** A short table, all of it on one page; {@link DataTable} is for long ones. */
export function Table({
  label,
  headings,
  rows,
}: {
  label: string
  headings: readonly string[]
  rows: readonly { key: string; cells: readonly ReactNode[] }[]
}) {
  return (
    <section
      className="thin-scroll w-full overflow-x-auto"
      aria-label={label} // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
      tabIndex={0}
    >
      <table className="w-full text-sm" aria-label={label}>
        <thead>
          <tr className="border-b border-hair text-xs text-muted">
            {headings.map((heading) => (
              <th key={heading} scope="col" className="py-1.5 pe-4 text-start font-normal whitespace-nowrap">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key} className="border-b border-hair">
              {cells.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a row never change places
                <td key={column} className="py-1.5 pe-4 align-middle whitespace-nowrap text-normal">
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
