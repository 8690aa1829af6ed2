/** Who spends: the key, and the entity that a request counts for. */
export interface Spender {
  keyId: string
  entity: string | undefined
}

/** What is left of a budget. */
export interface BudgetLeft {
  /** The smallest share, from 0 to 1. */
  remaining: number
  /** Whether that is so little that replies say so. */
  isLow: boolean
}

/** Tokens and money that entities and keys may spend; the gateway asks before each request, and says what it cost. */
export interface Budget {
  /** What is left; undefined without a budget. @throws 402 once one is spent */
  check(spender: Spender, signal: AbortSignal): Promise<BudgetLeft | undefined>
  /** Adds tokens that were used. */
  add(spender: Spender, tokens: number): void
}
