import { useEffect, useState } from 'react'
import { Combobox } from '../../components/combobox.tsx'

/** What is recorded; others may be typed. */
const ACTIONS = [
  'audit.export',
  'entity.erase',
  'key.create',
  'key.revoke',
  'limits.set',
  'member.remove',
  'member.set',
  'project.erase',
  'provider.remove',
  'provider.set',
  'redaction.change',
  'retention.set',
  'service_account.create',
  'session.start',
  'team.create',
  'user.change',
  'user.create',
  'user.erase',
  'user.sign_in_link',
]

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
        suggestions={ACTIONS}
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
