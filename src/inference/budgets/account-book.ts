import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Spender } from '../gateway/spending.ts'
import type { UsageCounter } from '../usage/counter.ts'
import type { Usage } from '../usage/service.ts'
import type { UsageRow } from '../usage/usage-row.ts'
import { type Account, createAccount, subjectOf } from './account.ts'
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
  /** Reads the budgets of an entity, or all, and what was spent of them. */
  load(entity?: string): Promise<void>
  /** Whose budgets hold for a request. */
  of(spender: Spender): Account[]
  /** The same for what a request used, with accounts that are being loaded. */
  countedFor(row: UsageRow): Account[]
  ofEntity(entity: string): Account[]
}

export function createAccountBook({ control, counter, usage, now }: AccountBookDeps): AccountBook {
  let bySubject = new Map<string, Account[]>()
  /** Accounts whose base is being read. */
  let fresh: Account[] = []
  /** Loads run one after the other. */
  let loaded: Promise<void> = Promise.resolve()

  const all = (): Account[] => [...bySubject.values()].flat()

  async function spentOf({ budget }: Account, month: Month): Promise<number> {
    const { entity, project, key_id } = budget
    const of = project === null ? { key: key_id ?? '' } : { entity, project }
    return (await usage.total({ ...of, from: month.from, before: month.until }))[budget.unit]
  }

  async function loadNow(entity: string | undefined): Promise<void> {
    const month = monthAt(now())
    const rows = await queries.listBudgets(control, entity)
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
    fresh = []
  }

  function of({ keyId, project }: Spender): Account[] {
    const ofKey = bySubject.get(subjectOf({ project: null, key_id: keyId })) ?? []
    return project === undefined ? ofKey : [...ofKey, ...(bySubject.get(subjectOf(project)) ?? [])]
  }

  return {
    load(entity) {
      const done = loaded.then(() => loadNow(entity))
      loaded = done.catch(() => {})
      return done
    },
    of,
    countedFor: (row) => [
      ...of({ keyId: row.key, project: row }),
      ...fresh.filter(({ budget }) => isOf(budget, row)),
    ],
    ofEntity: (entity) => all().filter(({ budget }) => budget.entity === entity),
  }
}

function isOf({ entity, project, key_id }: queries.BudgetRow, row: UsageRow): boolean {
  return project === null ? key_id === row.key : entity === row.entity && project === row.project
}
