import { z } from 'zod'
import type { Log } from '../../log.ts'
import { reloading } from '../../reloading.ts'
import { type Peers, valuesIn } from '../../stores/control-db/peers.ts'
import type { AccountBook } from './account-book.ts'

/** Servers store usage every second; what was spent is read again less often, one query for each budget. */
const PAUSE_MS = 2_000

/** How often they are read again without a message, which can be lost. */
const AGAIN_MS = 60_000

const Payer = z.object({ entity: z.string(), project: z.string(), key: z.string() })

/**
 * Reads all budgets, and again after another server has changed them, or stored usage that counts for them; where there
 * may be others, also from time to time.
 */
export async function followBudgets(deps: {
  peers: Pick<Peers, 'arePossible' | 'onChange' | 'onMessage'>
  accountBook: Pick<AccountBook, 'load' | 'countedFor'>
  log: Log
}): Promise<Disposable> {
  const { peers, accountBook, log } = deps
  let wanted = new Set<string | undefined>()

  /** Undefined for all entities. */
  function want(entity: string | undefined): void {
    wanted.add(entity)
    reload.ask()
  }

  async function read(): Promise<void> {
    const entities = wanted
    wanted = new Set()
    try {
      for (const entity of entities.has(undefined) ? [undefined] : entities) await accountBook.load(entity)
    } catch (error) {
      wanted.add(undefined)
      throw error
    }
  }

  using following = new DisposableStack()
  const reload = following.use(reloading('budgets', read, { log, pauseMs: PAUSE_MS }))
  peers.onChange(['budgets'], () => want(undefined))
  peers.onMessage('usage', (text) => {
    if (text === undefined) return want(undefined)
    for (const payer of valuesIn(text, Payer))
      for (const { budget } of accountBook.countedFor(payer)) want(budget.entity)
  })
  await accountBook.load()
  const timer = peers.arePossible ? setInterval(() => want(undefined), AGAIN_MS).unref() : undefined
  following.defer(() => clearInterval(timer))
  return following.move()
}
