import { useQuery } from '@tanstack/react-query'
import { CornerDownLeft, Search, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { classNames } from '../../components/class-names.ts'
import { Input } from '../../components/input.tsx'
import { useKeys } from '../../components/keys.ts'
import { POPUP, POPUP_ITEM } from '../../components/popup-style.ts'
import { fieldsQuery, valuesQuery } from './call-fields.ts'
import type { Comparison } from './search.ts'
import { type Completion, completionsOf, fieldAt } from './search-completions.ts'
import { parseSearch } from './search-terms.ts'

interface SearchFieldProps {
  project: string
  /** What is looked for now. */
  text: string
  /** Asked for with Enter. */
  onSearch: (text: string, conditions: readonly Comparison[]) => void
}

/** No completion is chosen by keys. */
const NONE = -1

/** Words and conditions in one line, with completions while typing; Enter runs the search. */
export function SearchField({ project, text, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(text)
  const [problems, setProblems] = useState<readonly string[]>([])
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(NONE)
  const field = useRef<HTMLInputElement>(null)
  const listId = useId()
  useKeys('Filters', [{ keys: '/', does: 'Search', run: () => field.current?.focus() }])
  useEffect(() => setTyped(text), [text])
  const caret = field.current?.selectionStart ?? typed.length
  const completions = useCompletions(project, { typed, caret, isAsking: isOpen && typed !== '' })
  const offered = isOpen ? completions : []
  const change = (next: string) => {
    setTyped(next)
    setProblems([])
    setActive(NONE)
    // After one part the next one is offered.
    setOpen(next !== '')
  }
  const search = () => {
    const terms = parseSearch(typed)
    setProblems(terms.problems)
    setOpen(false)
    if (terms.problems.length > 0) return
    setTyped(terms.text)
    onSearch(terms.text, terms.conditions)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const isShown = offered.length > 0
    if (event.key === 'Enter') {
      const chosen = offered[active]
      if (chosen === undefined) search()
      else change(chosen.typed)
    } else if (event.key === 'Escape') {
      if (!isShown) event.currentTarget.blur()
      setOpen(false)
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      setOpen(true)
      setActive(stepped(active, event.key === 'ArrowDown' ? 1 : -1, offered.length))
    } else return
    event.preventDefault()
  }
  return (
    <div className="relative max-md:w-full">
      <Input
        ref={field}
        role="combobox"
        aria-expanded={offered.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={active === NONE ? undefined : `${listId}-${active}`}
        aria-invalid={problems.length > 0}
        label="Search calls"
        placeholder="Search, or status:error latency:>2s"
        value={typed}
        className="w-80 max-md:w-full"
        icon={<Search size={14} aria-hidden />}
        end={
          <>
            {typed !== text && <CornerDownLeft size={13} aria-label="Enter searches" className="shrink-0" />}
            {typed !== '' && (
              <button
                type="button"
                aria-label="Clear the search"
                className="text-muted hover:text-strong"
                onClick={() => {
                  change('')
                  if (text !== '') onSearch('', [])
                }}
              >
                <X size={14} />
              </button>
            )}
          </>
        }
        onValueChange={change}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
      />
      <Offered id={listId} offered={offered} active={active} onPick={({ typed: next }) => change(next)} />
      {problems.length > 0 && (
        <p
          role="alert"
          className="raised-shade absolute top-full left-0 z-50 mt-1 w-max max-w-120 rounded-md bg-raised p-2 text-xs text-error"
        >
          {problems.join('; ')}
        </p>
      )}
    </div>
  )
}

/** Completions of the search. Values are requested while `isAsking`. */
function useCompletions(
  project: string,
  { typed, caret, isAsking }: { typed: string; caret: number; isAsking: boolean },
): Completion[] {
  const valued = isAsking ? fieldAt(typed, caret) : undefined
  const { data: known } = useQuery({ ...fieldsQuery(project), enabled: isAsking && valued === undefined })
  const { data: values } = useQuery({ ...valuesQuery(project, valued ?? ''), enabled: valued !== undefined })
  return completionsOf(typed, caret, { fields: known?.fields, values })
}

/** The next place in a list that goes round, with none of them between its ends. */
function stepped(active: number, by: -1 | 1, count: number): number {
  if (active === NONE) return by === 1 ? 0 : count - 1
  const next = active + by
  return next < 0 || next >= count ? NONE : next
}

interface OfferedProps {
  id: string
  offered: readonly Completion[]
  active: number
  onPick: (completion: Completion) => void
}

/** What may be typed next, below the field, which keeps the focus. */
function Offered({ id, offered, active, onPick }: OfferedProps) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label="What may be typed"
      hidden={offered.length === 0}
      className={classNames(POPUP, 'absolute top-full left-0 z-50 mt-1 w-max max-w-120 min-w-full')}
    >
      {offered.map((completion, index) => (
        <div
          key={completion.label}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          // The field keeps the focus, and says which one is active.
          tabIndex={-1}
          data-highlighted={index === active || undefined}
          className={classNames(POPUP_ITEM, 'hover:bg-hover')}
          onMouseDown={(event) => {
            event.preventDefault()
            onPick(completion)
          }}
        >
          <span className="min-w-0 flex-1 truncate font-mono text-xs">{completion.label}</span>
          <span className="tabular max-w-60 truncate text-xs text-muted">{completion.hint}</span>
        </div>
      ))}
    </div>
  )
}
