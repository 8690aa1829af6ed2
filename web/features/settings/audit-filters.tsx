import { useEffect, useState } from 'react'
import { AUDIT_ACTIONS } from '../../../src/accounts/audit/actions-wire.ts'
import { Combobox } from '../../components/combobox.tsx'

interface AuditFiltersProps {
  action: string
  actor: string
  onChange: (changed: { action?: string; actor?: string }) => void
}

/** Which events are shown: those of an action, of a user. */
export function AuditFilters({ action, actor, onChange }: AuditFiltersProps) {
  return (
    <>
      <Filter
        label="Action"
        placeholder="All actions"
        value={action}
        suggestions={AUDIT_ACTIONS}
        onChoose={(next) => onChange({ action: next })}
      />
      <Filter
        label="By user"
        placeholder="By all users"
        value={actor}
        suggestions={[]}
        onChoose={(next) => onChange({ actor: next })}
      />
    </>
  )
}

interface FilterProps {
  label: string
  placeholder: string
  value: string
  suggestions: readonly string[]
  onChoose: (value: string) => void
}

/** A word that is applied by Enter or a suggestion. */
function Filter({ label, placeholder, value, suggestions, onChoose }: FilterProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return (
    <Combobox
      label={label}
      placeholder={placeholder}
      className="w-44"
      value={typed}
      suggestions={suggestions.filter((one) => one.includes(typed)).map((one) => ({ value: one }))}
      onChange={setTyped}
      onCommit={(next) => onChoose(next.trim())}
    />
  )
}
