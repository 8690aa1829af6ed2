import { ArrowUp, Trash2 } from 'lucide-react'
import { IconButton } from '../../../components/button.tsx'
import { formatCount } from '../../../components/format.ts'
import { Input } from '../../../components/input.tsx'
import { Select } from '../../../components/select.tsx'
import { ACTIONS, BUILTINS, MATCHES, type RuleDraft, withMatch } from './rule-draft.ts'

interface RuleRowProps {
  rule: RuleDraft
  /** How often it has found something; undefined for a rule that is not stored. */
  hits: number | undefined
  isFirst: boolean
  onChange: (rule: RuleDraft) => void
  onUp: () => void
  onRemove: () => void
}

/** One rule, to be changed. */
export function RuleRow({ rule, hits, isFirst, onChange, onUp, onRemove }: RuleRowProps) {
  const { name, action, match, sought } = rule
  return (
    <li className="flex flex-wrap items-center gap-2 py-2">
      <Input
        label="Name of the rule"
        className="w-36 max-md:w-full"
        value={name}
        onValueChange={(next) => onChange({ ...rule, name: next.trim() })}
      />
      <Select
        label={`Action of ${name}`}
        className="w-24"
        value={action}
        options={ACTIONS}
        onChange={(next) => onChange({ ...rule, action: next })}
      />
      <Select
        label={`Kind of ${name}`}
        className="w-40 max-md:flex-1"
        value={match}
        options={MATCHES}
        onChange={(next) => onChange(withMatch(rule, next))}
      />
      {match === 'builtin' ? (
        <Select
          label={`What ${name} looks for`}
          className="min-w-48 flex-1"
          value={BUILTINS.find(({ value }) => value === sought)?.value ?? 'secret'}
          options={BUILTINS}
          onChange={(next) => onChange({ ...rule, sought: next })}
        />
      ) : (
        <Input
          label={`What ${name} looks for`}
          placeholder={MATCHES.find(({ value }) => value === match)?.example}
          className="min-w-48 flex-1 font-mono"
          value={sought}
          onValueChange={(next) => onChange({ ...rule, sought: next })}
        />
      )}
      <span className="flex items-center gap-1 max-md:ms-auto">
        <span className="tabular w-24 text-end text-xs text-muted">
          {hits === undefined ? 'not saved' : `${formatCount(hits)} found`}
        </span>
        <IconButton
          label={`Move ${name} up`}
          icon={<ArrowUp size={14} />}
          size="small"
          disabled={isFirst}
          onClick={onUp}
        />
        <IconButton label={`Remove ${name}`} icon={<Trash2 size={14} />} size="small" onClick={onRemove} />
      </span>
    </li>
  )
}
