import { type Month, monthAt } from './month.ts'
import type { BudgetRow } from './queries.ts'

/** A whole entity, one of its projects, or one of its keys. */
export type BudgetSubject = Pick<BudgetRow, 'entity' | 'project' | 'key_id'>

/** How a budget stands. */
export interface BudgetStand {
  spent: number
  remaining: number
  state: 'within' | 'warning' | 'spent'
  /** What callers are told; null while it is within. */
  message: string | null
}

/** What was spent of one budget in the current month. */
export interface Account {
  readonly budget: BudgetRow
  /** Begins with what is known to be spent in a month; of another month, it is forgotten. */
  setBase(month: Month, spent: number): void
  /** Counts, and returns the state that it has come to by that, if it is another one than before. */
  add(amount: number): BudgetStand['state'] | undefined
  stand(): BudgetStand
}

export function createAccount(budget: BudgetRow, now: () => Date): Account {
  const { unit, amount, warn_at } = budget
  let month = monthAt(now())
  let spent = 0

  function turnMonth(): void {
    const current = monthAt(now())
    if (current.name === month.name) return
    month = current
    spent = 0
  }

  function state(): BudgetStand['state'] {
    if (spent >= amount) return 'spent'
    return spent >= amount * warn_at ? 'warning' : 'within'
  }

  function message(): string | null {
    const of = `The budget of ${subjectOf(budget)}`
    const used = `${shown(spent)} of ${shown(amount)} ${unit} in ${month.name}`
    switch (state()) {
      case 'within':
        return null
      case 'warning':
        return `${of} is nearly spent: ${used}`
      case 'spent':
        return `${of} is spent: ${used}. It begins anew on ${month.until.slice(0, 10)}, and admins of ${budget.entity} may raise it`
    }
  }

  return {
    budget,
    setBase(of, base) {
      turnMonth()
      if (of.name === month.name) spent += base
    },
    add(more) {
      turnMonth()
      const before = state()
      spent += more
      const after = state()
      return before === after ? undefined : after
    },
    stand() {
      turnMonth()
      return { spent, remaining: Math.max(0, amount - spent), state: state(), message: message() }
    },
  }
}

/** What a budget is of, for messages. */
export function subjectOf({ entity, project, key_id }: BudgetSubject): string {
  if (project !== null) return `${entity}/${project}`
  return key_id === null ? entity : `key ${key_id}`
}

/** Sums of prices have many digits, of which a millionth of a dollar is more than enough. */
export function shown(amount: number): string {
  return String(Math.round(amount * 1e6) / 1e6)
}
