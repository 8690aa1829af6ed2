import { Braces, ListFilter, Plus, X } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { useKeys } from '../../components/keys.ts'
import { lazyPart } from '../../components/lazy-part.ts'
import { Popover } from '../../components/popover.tsx'
import { conditionText } from './conditions.ts'
import { RangeMenu } from './range-menu.tsx'
import type { ChangeSearch, Comparison, Condition, TracesSearch } from './search.ts'
import { SearchField } from './search-field.tsx'
import type { Traces } from './use-traces.ts'

const ConditionForm = lazyPart(async () => (await import('./condition-form.tsx')).ConditionForm)

const QueryDialog = lazyPart(async () => (await import('./query-dialog.tsx')).QueryDialog)

interface FilterBarProps {
  search: TracesSearch
  change: ChangeSearch
  project: string
  traces: Traces
  /** Shows the calls that came since, at the top of the list. */
  onNew: () => void
}

/** Search and conditions, the time range, and new calls. Typed and clicked conditions become the same chips. */
export function FilterBar({ search, change, project, traces, onNew }: FilterBarProps) {
  const { filter } = search
  const add = (condition: Comparison) => change({ filter: [...filter, condition], open: '' })
  const replace = (index: number, condition: Comparison) =>
    change({ filter: filter.with(index, condition), open: '' })
  const remove = (index: number) => change({ filter: filter.filter((_, at) => at !== index), open: '' })
  return (
    <>
      <SearchField
        project={project}
        text={search.text}
        onSearch={(text, conditions) => change({ text, filter: [...filter, ...conditions], open: '' })}
      />
      {filter.map((condition, index) => (
        <Chip
          // biome-ignore lint/suspicious/noArrayIndexKey: two equal conditions are told apart by nothing else
          key={`${conditionText(condition)} ${index}`}
          condition={condition}
          project={project}
          onChange={(next) => replace(index, next)}
          onRemove={() => remove(index)}
        />
      ))}
      <AddCondition project={project} onAdd={add} />
      <EditAsQuery search={search} change={change} project={project} />
      {filter.length + (search.text === '' ? 0 : 1) > 1 && (
        <Button look="quiet" size="small" onClick={() => change({ filter: [], text: '' })}>
          Clear
        </Button>
      )}
      <span className="ms-auto flex items-center gap-1.5">
        {traces.newCount > 0 && (
          <button
            type="button"
            onClick={onNew}
            className="tabular h-6 rounded-full bg-selected px-2.5 text-xs text-link hover:brightness-95"
          >
            {traces.newCount.toLocaleString('en')} new
          </button>
        )}
        <RangeMenu search={search} change={change} span={traces.span} />
      </span>
    </>
  )
}

function EditAsQuery(props: Pick<FilterBarProps, 'search' | 'change' | 'project'>) {
  const [isOpen, setOpen] = useState(false)
  useKeys('Query', [{ keys: 'q', does: 'Edit as query', run: () => setOpen(true) }])
  return (
    <span className="max-md:hidden">
      <IconButton
        label="Edit as query"
        keys="q"
        size="small"
        icon={<Braces size={14} />}
        onClick={() => setOpen(true)}
      />
      {isOpen && (
        <Suspense>
          <QueryDialog {...props} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </span>
  )
}

function Chip({
  condition,
  project,
  onChange,
  onRemove,
}: {
  condition: Condition
  project: string
  onChange: (next: Comparison) => void
  onRemove: () => void
}) {
  const [isOpen, setOpen] = useState(false)
  const text = conditionText(condition)
  const label = (
    <span className="max-w-64 truncate" title={text}>
      {text}
    </span>
  )
  return (
    <span className="inline-flex h-6 max-w-full items-center rounded-md bg-selected text-xs text-strong">
      {'expr' in condition ? (
        <span className="px-2 font-mono">{label}</span>
      ) : (
        <Popover
          label="Condition"
          isOpen={isOpen}
          onOpenChange={setOpen}
          trigger={
            <button type="button" className="h-full min-w-0 rounded-s-md px-2 hover:bg-hover">
              {label}
            </button>
          }
        >
          <ConditionForm
            project={project}
            initial={condition}
            onDone={(next) => {
              setOpen(false)
              onChange(next)
            }}
          />
        </Popover>
      )}
      <button
        type="button"
        aria-label={`Drop ${text}`}
        className="flex h-full min-w-6 items-center justify-center rounded-e-md text-muted hover:bg-hover hover:text-strong"
        onClick={onRemove}
      >
        <X size={13} />
      </button>
    </span>
  )
}

function AddCondition({ project, onAdd }: { project: string; onAdd: (condition: Comparison) => void }) {
  const [isOpen, setOpen] = useState(false)
  useKeys('Filters ', [{ keys: 'f', does: 'Add a condition', run: () => setOpen(true) }])
  return (
    <Popover
      label="New condition"
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button look="quiet" size="small" icon={isOpen ? <ListFilter size={14} /> : <Plus size={14} />}>
          Filter
        </Button>
      }
    >
      <ConditionForm
        project={project}
        onDone={(condition) => {
          setOpen(false)
          onAdd(condition)
        }}
      />
    </Popover>
  )
}
