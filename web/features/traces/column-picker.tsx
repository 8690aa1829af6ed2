import { ArrowDown, ArrowUp, Search } from 'lucide-react'
import { useState } from 'react'
import type { CallFieldsRes } from '../../api/calls.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Input } from '../../components/input.tsx'
import { pathsIn } from './call-fields.ts'
import { columnsOf, KNOWN_COLUMNS } from './columns.tsx'

/** More are found by typing. */
const OFFERED_MAX = 200

interface ColumnPickerProps {
  /** What is shown, in order. */
  ids: readonly string[]
  /** What calls have; undefined until it is known. */
  known: CallFieldsRes | undefined
  onChange: (ids: string[]) => void
}

/**
 * Which columns, in which order: those that every call has, and any path within inputs, output, attributes and summary.
 */
export function ColumnPicker({ ids, known, onChange }: ColumnPickerProps) {
  const [find, setFind] = useState('')
  const isFound = (text: string) => text.toLowerCase().includes(find.toLowerCase())
  const others = [
    ...KNOWN_COLUMNS.map(({ id, title }) => ({ id, title, hint: '' })),
    ...pathsIn(known?.fields ?? []).map(({ path, example, count }) => ({
      id: path,
      title: path,
      hint: [example, `in ${count.toLocaleString('en')}`].filter(Boolean).join(' · '),
    })),
  ].filter(({ id, title }) => !ids.includes(id) && isFound(`${title} ${id}`))
  const move = (index: number, by: number) => {
    const next = [...ids]
    const [moved = ''] = next.splice(index, 1)
    next.splice(index + by, 0, moved)
    onChange(next)
  }
  return (
    <div className="flex w-[min(24rem,calc(100vw-32px))] flex-col gap-1 p-1">
      <Input
        label="Find a column"
        placeholder="Find a column or a path"
        value={find}
        onValueChange={setFind}
        autoFocus
        icon={<Search size={14} aria-hidden />}
      />
      <ul className="flex flex-col">
        {columnsOf(ids).map(({ id, title }, index) => (
          <li
            key={id}
            hidden={!isFound(`${title} ${id}`)}
            className="group/column flex h-7 items-center gap-1"
          >
            <Choice
              label={title}
              isShown
              isDisabled={ids.length === 1}
              onToggle={() => onChange(ids.filter((other) => other !== id))}
            />
            <IconButton
              label={`Move ${id} up`}
              size="small"
              disabled={index === 0}
              icon={<ArrowUp size={13} />}
              onClick={() => move(index, -1)}
            />
            <IconButton
              label={`Move ${id} down`}
              size="small"
              disabled={index === ids.length - 1}
              icon={<ArrowDown size={13} />}
              onClick={() => move(index, 1)}
            />
          </li>
        ))}
      </ul>
      <ul className="flex flex-col border-t border-hair pt-1">
        {others.slice(0, OFFERED_MAX).map(({ id, title, hint }) => (
          <li key={id} className="flex h-7 items-center">
            <Choice label={title} hint={hint} isShown={false} onToggle={() => onChange([...ids, id])} />
          </li>
        ))}
        {others.length > OFFERED_MAX && (
          <li className="px-2 text-xs text-muted">{others.length - OFFERED_MAX} more: type to find them</li>
        )}
        {known?.is_sample && (
          <li className="tabular px-2 text-xs text-muted">
            Counted in {known.sampled_calls.toLocaleString('en')} of {known.total_calls.toLocaleString('en')}{' '}
            calls
          </li>
        )}
        {others.length === 0 && find !== '' && (
          <li>
            <Button size="small" onClick={() => onChange([...ids, find])}>
              Show the path {find}
            </Button>
          </li>
        )}
      </ul>
    </div>
  )
}

interface ChoiceProps {
  label: string
  hint?: string
  isShown: boolean
  isDisabled?: boolean
  onToggle: () => void
}

function Choice({ label, hint, isShown, isDisabled, onToggle }: ChoiceProps) {
  return (
    <label className="flex h-full min-w-0 flex-1 items-center gap-2 rounded-md px-2 hover:bg-hover">
      <input
        type="checkbox"
        checked={isShown}
        disabled={isDisabled}
        onChange={onToggle}
        className="accent-(--accent)"
      />
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {hint !== undefined && hint !== '' && (
        <span className="tabular max-w-44 truncate text-xs text-muted">{hint}</span>
      )}
    </label>
  )
}
