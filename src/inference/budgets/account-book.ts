import { inOrder } from '../../in-order.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Spender } from '../gateway/spending.ts'
import type { UsageCounter } from '../usage/counter.ts'
import type { Usage } from '../usage/service.ts'
import type { UsageRow } from '../usage/usage-row.ts'
import { type Account, type BudgetSubject, createAccount, subjectOf } from './account.ts'
import { type Month, monthAt } from './month.ts'
import * as queries from './queries.ts'

export interface AccountBookDeps {
  control: ControlDb
  counter: Pick<UsageCounter, 'whileStored'>
  usage: Pick<Usage, 'total'>
  now: () => Date
}

/** The accounts of all budgets, in memory; what was spent before they were loaded is read from the usage table. */
export interface AccountBook {
  /**
   * Reads the budgets of an entity, or all, and what was spent of them.
   * @throws 503 where usage cannot be stored or read; the accounts stay as they were then
   */
  load(entity?: string): Promise<void>
  /** Whose budgets hold for a request. */
  of(spender: Spender): Account[]
  /** The same for what a request used, with accounts that are being loaded. */
  countedFor(row: Pick<UsageRow, 'entity' | 'project' | 'key'>): Account[]
  ofEntity(entity: string): Account[]
}

export function createAccountBook({ control, counter, usage, now }: AccountBookDeps): AccountBook {
  let bySubject = new Map<string, Account[]>()
  /** Accounts whose base is being read. */
  let fresh: Account[] = []
  /** Loads run one after the other. */
  const inTurn = inOrder()

  const all = (): Account[] => [...bySubject.values()].flat()

  async function spentOf({ budget }: Account, month: Month): Promise<number> {
    const { entity, project, key_id } = budget
    const of = key_id === null ? { entity, ...(project !== null && { project }) } : { key: key_id }
    return (await usage.total({ ...of, from: month.from, before: month.until }))[budget.unit]
  }

  async function loadNow(entity: string | undefined): Promise<void> {
    const month = monthAt(now())
    const rows = await queries.listBudgets(control, entity)
    try {
      await counter.whileStored(
        () => {
          fresh = rows.map((row) => createAccount(row, now))
        },
        async () => {
          for (const account of fresh) account.setBase(month, await spentOf(account, month))
        },
      )
      const others = all().filter(({ budget }) => entity !== undefined && budget.entity !== entity)
      bySubject = Map.groupBy([...others, ...fresh], ({ budget }) => subjectOf(budget))
    } finally {
      fresh = []
    }
  }

  function of({ keyId, entity, project: place }: Spender): Account[] {
    const subjects: BudgetSubject[] = [
      { entity: '', project: null, key_id: keyId },
      ...(place === undefined ? [] : [{ ...place, key_id: null }]),
      { entity, project: null, key_id: null },
    ]
    return subjects.flatMap((subject) => bySubject.get(subjectOf(subject)) ?? [])
  }

  return {
    load: (entity) => inTurn(() => loadNow(entity)),
    of,
    countedFor: (row) => [
      ...of({ keyId: row.key, entity: row.entity, project: row.project === '' ? undefined : row }),
      ...fresh.filter(({ budget }) => isOf(budget, row)),
    ],
    ofEntity: (entity) => all().filter(({ budget }) => budget.entity === entity),
  }
}

function isOf(
  { entity, project, key_id }: queries.BudgetRow,
  row: Pick<UsageRow, 'entity' | 'project' | 'key'>,
): boolean {
  if (key_id !== null) return key_id === row.key
  return entity === row.entity && (project === null || project === row.project)
}
