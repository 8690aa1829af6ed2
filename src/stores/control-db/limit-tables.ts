/** What entities and keys may use; one that is not named here may use everything. */
export interface UsageLimitsTable {
  kind: 'entity' | 'key'
  /** The name of an entity, or the id of a key. */
  name: string
  /** JSON: numbers by the names of limits. */
  limits: string
  updated_at: string
  updated_by: string
  /** 1 where an operator stored them: of a key, they may be more than the settings of the server let keys have. */
  by_operator: number
}

/** What an entity, one of its projects, or one of its keys may spend on models in a calendar month. */
export interface BudgetsTable {
  id: string
  entity: string
  /** The name of the project; both are null for a budget of the whole entity. */
  project: string | null
  key_id: string | null
  unit: 'tokens' | 'usd'
  amount: number
  /** The share of the amount from which on callers are warned. */
  warn_at: number
  created_at: string
  created_by: string
}
