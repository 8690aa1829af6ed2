import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { Select } from '../../components/select.tsx'
import { fieldSuggestions, fieldsQuery, valueSuggestions, valuesQuery } from './call-fields.ts'
import { needsValue, OPERATOR_WORDS, operatorsFor } from './conditions.ts'
import type { Comparison } from './search.ts'

interface ConditionFormProps {
  project: string
  initial?: Comparison
  onDone: (condition: Comparison) => void
}

/** Field, operator and value of one condition, with the fields and values that calls have. */
export function ConditionForm({ project, initial, onDone }: ConditionFormProps) {
  const [condition, setCondition] = useState<Comparison>(initial ?? { field: '', op: 'is', value: '' })
  // Values are requested when one is about to be written, and not for each letter of a field.
  const [valued, setValued] = useState(initial?.field ?? '')
  const { data: known } = useQuery(fieldsQuery(project))
  const { data: values } = useQuery({ ...valuesQuery(project, valued), enabled: valued !== '' })
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
        suggestions={fieldSuggestions(known?.fields ?? [])}
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
          suggestions={valueSuggestions(condition.field, valued === condition.field ? (values ?? []) : [])}
          onOpen={() => setValued(condition.field)}
          opensOnFocus
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
