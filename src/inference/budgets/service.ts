import type { Audit, Audited } from '../../accounts/audit/service.ts'
import type { Identity } from '../../accounts/identity/service.ts'
import type { Keys } from '../../accounts/keys/service.ts'
import { invalidRequest, notAllowed, notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { checkVersion, versionOf } from '../../wire/settings-version.ts'
import type { Account } from './account.ts'
import type { AccountBook } from './account-book.ts'
import { monthAt } from './month.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** What an entity, its projects and its keys may spend on models in a month. */
export interface Budgets {
  /** @throws 404 for an unknown entity. */
  list(req: wire.EntityPath): Promise<wire.BudgetsRes>
  /**
   * Replaces the budgets of an entity; those of the whole entity stay as they are where its admins replace the others.
   * @throws 400 for one of both a project and a key, 403 for one of neither by others than operators, 404 for a key of
   * another entity, or an unknown entity, 409 for another version.
   */
  replace(req: wire.EntityPath & wire.BudgetsReq, context: CallContext): Promise<wire.BudgetsRes>
}

export interface BudgetsDeps {
  control: ControlDb
  accountBook: Pick<AccountBook, 'load' | 'ofEntity'>
  keys: Pick<Keys, 'home'>
  identity: Pick<Identity, 'checkEntity'>
  audit: Pick<Audit, 'record'>
  now: () => Date
}

export function createBudgets({ control, accountBook, keys, identity, audit, now }: BudgetsDeps): Budgets {
  function shown(entity: string): wire.BudgetsRes {
    const { name, until } = monthAt(now())
    const accounts = accountBook.ofEntity(entity)
    const version = versionOf(storedOf(accounts.map(({ budget }) => budget)))
    return { entity, month: name, resets_at: until, data: accounts.map(toWire), version }
  }

  async function rowOf(
    { project = null, key = null, ...rest }: wire.BudgetsReq['data'][number],
    entity: string,
    user: string,
  ): Promise<queries.BudgetRow> {
    if (project !== null && key !== null)
      throw invalidRequest('A budget is of a project or of a key: name one of both', 'data')
    if (key !== null && (await keys.home(key))?.entity !== entity)
      throw notFound('key', key, { param: 'data' })
    return { id: newId(), entity, project, key_id: key, ...rest, created_at: nowIso(), created_by: user }
  }

  async function replace(
    { entity, data, if_version }: wire.EntityPath & wire.BudgetsReq,
    { caller }: CallContext,
  ) {
    await identity.checkEntity(entity)
    const { isOperator } = caller.rights
    if (!isOperator && data.some(isOfEntity))
      throw notAllowed(`Only operators of this server set the budget of ${entity} as a whole`)
    const rows: queries.BudgetRow[] = []
    for (const budget of data) rows.push(await rowOf(budget, entity, caller.user))
    const event: Audited = { action: 'budgets.set', entity, subject: entity, details: { data } }
    await control.transaction().execute(async (tx) => {
      checkVersion('The budgets', storedOf(await queries.listBudgets(tx, entity)), { if_version })
      await queries.replaceBudgets(tx, entity, rows, { ofEntity: isOperator })
      await audit.record(caller, event, tx)
    })
    await accountBook.load(entity)
    return shown(entity)
  }

  return {
    async list({ entity }) {
      await identity.checkEntity(entity)
      return shown(entity)
    },
    replace,
  }
}

/** Without their ids, which are new with each change. */
function storedOf(budgets: readonly queries.BudgetRow[]): string[] {
  return budgets
    .map(({ project, key_id, unit, amount, warn_at }) =>
      JSON.stringify([project, key_id, unit, amount, warn_at]),
    )
    .sort()
}

function isOfEntity({ project = null, key = null }: wire.BudgetsReq['data'][number]): boolean {
  return project === null && key === null
}

function toWire({ budget, stand }: Account): wire.BudgetState {
  const { id, project, key_id, unit, amount, warn_at } = budget
  return { id, project, key: key_id, unit, amount, warn_at, ...stand() }
}
