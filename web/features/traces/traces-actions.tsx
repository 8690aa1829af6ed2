import { useQuery } from '@tanstack/react-query'
import { Columns3, Download, Rows3 } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { lazyPart } from '../../components/lazy-part.ts'
import { Menu } from '../../components/menu.tsx'
import { Popover } from '../../components/popover.tsx'
import { fieldsQuery } from './call-fields.ts'
import { type ExportFormat, exportCalls } from './export-calls.ts'
import { ROW_LINES } from './row-lines.ts'
import type { Traces } from './use-traces.ts'

const ColumnPicker = lazyPart(async () => (await import('./column-picker.tsx')).ColumnPicker)

interface TracesActionsProps {
  project: string
  traces: Traces
  ids: readonly string[]
  onColumns: (ids: string[]) => void
  lines: number
  onLines: (lines: number) => void
}

/** Columns, height of rows and export, at the end of the title row. */
export function TracesActions({ project, traces, ids, onColumns, lines, onLines }: TracesActionsProps) {
  const [isOpen, setOpen] = useState(false)
  const [done, setDone] = useState<number>()
  const { data: known } = useQuery({ ...fieldsQuery(project), enabled: isOpen })
  const save = (format: ExportFormat) => {
    setDone(0)
    void exportCalls(project, { requests: [traces.request], ids, format, onProgress: setDone }).finally(() =>
      setDone(undefined),
    )
  }
  const count = traces.rowCount.toLocaleString('en')
  return (
    <>
      {done !== undefined && (
        <output className="tabular text-xs text-muted">
          {done.toLocaleString('en')} of {count}
        </output>
      )}
      <Popover
        label="Columns"
        isOpen={isOpen}
        onOpenChange={setOpen}
        trigger={
          <Button look="quiet" icon={<Columns3 size={15} />}>
            <span className="max-md:sr-only">Columns</span>
          </Button>
        }
      >
        <ColumnPicker ids={ids} known={known} onChange={onColumns} />
      </Popover>
      <span className="max-md:hidden">
        <Menu
          trigger={<IconButton label="Height of rows" keys="] [" icon={<Rows3 size={15} />} />}
          groups={[
            {
              entries: ROW_LINES.map((each) => ({
                label: each.label,
                isChosen: each.lines === lines,
                onSelect: () => onLines(each.lines),
              })),
            },
          ]}
        />
      </span>
      <Menu
        trigger={
          <IconButton
            label="Export"
            icon={<Download size={15} />}
            disabled={done !== undefined || traces.rowCount === 0}
          />
        }
        groups={[
          {
            label: `${count} calls, as filtered and sorted`,
            entries: [
              { label: 'CSV of these columns', onSelect: () => save('csv') },
              { label: 'JSON lines of whole calls', onSelect: () => save('jsonl') },
            ],
          },
        ]}
      />
    </>
  )
}
