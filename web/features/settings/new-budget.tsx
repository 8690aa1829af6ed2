import { useState } from 'react'
import type { Budget } from '../../api/limits.ts'
import { Button } from '../../components/button.tsx'
import { Input } from '../../components/input.tsx'
import { Select } from '../../components/select.tsx'
import { amountIn } from './amount.ts'

type Subject = 'project' | 'key' | 'team'

const SUBJECTS: readonly { value: Subject; label: string }[] = [
  { value: 'project', label: 'Of a project' },
  { value: 'key', label: 'Of a key' },
  { value: 'team', label: 'Of the whole team' },
]

const UNITS: readonly { value: Budget['unit']; label: string }[] = [
  { value: 'tokens', label: 'tokens a month' },
  { value: 'usd', label: 'US dollars a month' },
]

/** The share from which on replies carry a warning. */
const WARN_AT = 0.8

interface NewBudgetProps {
  mayBeOfTeam: boolean
  isDisabled: boolean
  /** Calls `onDone` once the budget is stored. */
  onAdd: (budget: Budget, onDone: () => void) => void
}

/** Adds a budget. */
export function NewBudget({ mayBeOfTeam, isDisabled, onAdd }: NewBudgetProps) {
  const [subject, setSubject] = useState<Subject>('project')
  const [name, setName] = useState('')
  const [amount, setAmount] = useState('')
  const [unit, setUnit] = useState<Budget['unit']>('tokens')
  const number = amountIn(amount) ?? 0
  const isWrong = amount.trim() !== '' && number === 0
  const isComplete = number > 0 && (subject === 'team' || name.trim() !== '')
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        const of = subject === 'team' ? {} : { [subject]: name.trim() }
        onAdd({ ...of, unit, amount: number, warn_at: WARN_AT }, () => {
          setName('')
          setAmount('')
        })
      }}
    >
      <Select
        label="What the budget is of"
        value={subject}
        options={SUBJECTS.filter(({ value }) => mayBeOfTeam || value !== 'team')}
        onChange={setSubject}
      />
      {subject !== 'team' && (
        <Input
          label={subject === 'project' ? 'Name of the project' : 'Id of the key'}
          placeholder={subject === 'project' ? 'Project' : 'Id of the key'}
          value={name}
          onValueChange={setName}
        />
      )}
      <Input
        label="Amount"
        inputMode="decimal"
        placeholder="Amount"
        className="w-36"
        aria-invalid={isWrong}
        value={amount}
        onValueChange={setAmount}
      />
      <Select label="Unit" value={unit} options={UNITS} onChange={setUnit} />
      <Button type="submit" look="primary" disabled={!isComplete || isDisabled}>
        Add budget
      </Button>
      {isWrong && (
        <p role="alert" className="basis-full text-error">
          An amount is a number above zero, such as 1,000 or 2.50; 10.000 could be ten or ten thousand.
        </p>
      )}
    </form>
  )
}
