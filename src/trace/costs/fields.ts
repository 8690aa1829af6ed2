import { invalidRequest } from '../../errors.ts'
import type { FieldExpression } from '../query-language/compile.ts'
import { Cost } from './wire.ts'

/** Fields returned where a query names none. */
export const COST_FIELDS = Cost.keyof().options

type CostField = keyof Cost

/** Further fields that a query may compare. */
const FIELDS = {
  id: { sql: 'id', kind: 'text' },
  llm_id: { sql: 'llm_id', kind: 'text' },
  provider_id: { sql: 'provider_id', kind: 'text' },
  effective_date: { sql: 'effective_date', kind: 'datetime' },
  prompt_token_cost: { sql: 'prompt_token_cost', kind: 'number' },
  completion_token_cost: { sql: 'completion_token_cost', kind: 'number' },
  cache_read_input_token_cost: { sql: 'cache_read_input_token_cost', kind: 'number' },
  cache_creation_input_token_cost: { sql: 'cache_creation_input_token_cost', kind: 'number' },
  prompt_token_cost_unit: { sql: 'prompt_token_cost_unit', kind: 'text' },
  completion_token_cost_unit: { sql: 'completion_token_cost_unit', kind: 'text' },
  created_at: { sql: 'created_at', kind: 'datetime' },
  created_by: { sql: 'created_by', kind: 'text' },
  pricing_level: { sql: `'project'`, kind: 'text' },
  pricing_level_id: { sql: 'project_id', kind: 'text' },
} satisfies Record<CostField | string, FieldExpression>

/** Finds a field that queries may compare and sort by. @throws 400 for what is not a field. */
export function costField(name: string): FieldExpression {
  const found = Object.entries(FIELDS).find(([field]) => field === name)
  if (found === undefined) throw invalidRequest(`Unknown field: ${name.slice(0, 200)}`)
  return found[1]
}

/** @throws 400 when one of the names is not a field of a cost. */
export function costFields(names: readonly string[]): readonly CostField[] {
  return [...new Set(names)].map((name) => {
    const field = COST_FIELDS.find((known) => known === name)
    if (field === undefined) throw invalidRequest(`Unknown field: ${name.slice(0, 200)}`)
    return field
  })
}
