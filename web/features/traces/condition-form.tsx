import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { Select } from '../../components/select.tsx'
import { needsValue, OPERATOR_WORDS, operatorsFor } from './conditions.ts'
import { fieldSuggestions, type Sample, valueSuggestions } from './sample.ts'
import type { Comparison } from './search.ts'

interface ConditionFormProps {
  /** Offers fields and values that exist; nothing is offered until it is there. */
  sample: Sample | undefined
  initial?: Comparison
  onDone: (condition: Comparison) => void
}

/** Field, operator and value of one condition, from what the newest calls have. */
export function ConditionForm({ sample, initial, onDone }: ConditionFormProps) {
  const [condition, setCondition] = useState<Comparison>(initial ?? { field: '', op: 'is', value: '' })
  const operators = operatorsFor(condition.field)
  const op = operators.includes(condition.op) ? condition.op : (operators[0] ?? 'is')
  const setField = (field: string) => setCondition((old) => ({ ...old, field }))
  const setValue = (value: string) => setCondition((old) => ({ ...old, value }))
  const isComplete = condition.field !== '' && (!needsValue(op) || condition.value !== '')
  return (
    <form
      className="flex w-[min(34rem,calc(100vw-32px))] flex-wrap items-center gap-1.5 p-1.5"
      onSubmit={(event) => {
        event.preventDefault()
        if (isComplete) onDone({ ...condition, op })
      }}
    >
      <Combobox
        label="Field"
        placeholder="Field, for instance inputs.question"
        value={condition.field}
        suggestions={sample === undefined ? [] : fieldSuggestions(sample)}
        onChange={setField}
        onCommit={setField}
        autoFocus={initial === undefined}
        className="min-w-40 flex-2"
      />
      <Select
        label="Operator"
        value={op}
        options={operators.map((value) => ({ value, label: OPERATOR_WORDS[value] }))}
        onChange={(next) => setCondition((old) => ({ ...old, op: next }))}
        className="w-28"
      />
      {needsValue(op) && (
        <Combobox
          label="Value"
          placeholder="Value"
          value={condition.value}
          suggestions={sample === undefined ? [] : valueSuggestions(sample, condition.field)}
          onChange={setValue}
          onCommit={(value) => {
            setValue(value)
            if (condition.field !== '' && value !== '') onDone({ ...condition, op, value })
          }}
          autoFocus={initial !== undefined}
          className="min-w-32 flex-1"
        />
      )}
      <Button type="submit" look="primary" disabled={!isComplete}>
        Apply
      </Button>
    </form>
  )
}
