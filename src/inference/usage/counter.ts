import { newId } from '../../ids.ts'
import { inOrder } from '../../in-order.ts'
import type { Log } from '../../log.ts'
import { repeated } from '../../repeated.ts'
import { type Peers, sendAll } from '../../stores/control-db/peers.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { estimated, type Spending } from '../gateway/spending.ts'
import { USAGE_TABLE } from './queries.ts'
import type { UsageRow } from './usage-row.ts'

/**
 * A row a request would cost more than the request. A server that is killed loses this much usage, and what the
 * database has failed to store.
 */
const FLUSH_MS = 1_000

/** Rows that wait for the database; beyond it, usage is counted without its key and project. */
const PENDING_MAX = 10_000

export interface UsageCounterDeps {
  traces: Pick<TraceDb, 'insertOnce'>
  log: Log
  peers: Pick<Peers, 'send'>
}

/**
 * Counts what requests cost, and adds it to the database once a second. What the database fails to store is stored
 * later; none is lost by that. Where the database has stored it and fails all the same, a cluster counts it once, and a
 * database on one machine counts it again.
 */
export interface UsageCounter {
  /** Counts a request that has ended, and returns it as it will be stored. */
  record(spending: Spending): UsageRow
  /** Resolves when everything recorded so far can be read. @throws what the insert fails with */
  flush(): Promise<void>
  /**
   * Reads what was recorded before `begin`, and nothing that is recorded later: that is stored after `read` has ended.
   * `begin` is called once what an earlier insert has failed to store is stored.
   * @throws what the insert fails with, and nothing is read then
   */
  whileStored(begin: () => void, read: () => Promise<void>): Promise<void>
  start(): AsyncDisposable
}

export function createUsageCounter({ traces, log, peers }: UsageCounterDeps): UsageCounter {
  let pending = new Map<string, UsageRow>()
  /** What an insert has failed to store, or has stored in part: it is repeated as it was. */
  let unstored: Batch | undefined
  /** Work with the database. */
  const inTurn = inOrder()

  function add(row: UsageRow): void {
    const { entity, project, model, base_model, step, key, hour } = row
    const name = JSON.stringify([entity, project, model, base_model, step, key, hour])
    const sum = pending.get(name)
    if (sum !== undefined) {
      for (const count of COUNTS) sum[count] += row[count]
    } else if (pending.size < PENDING_MAX) pending.set(name, row)
    else if (entity !== '') add({ ...row, entity: '', project: '', key: '' })
    else log.warn({ usage: row }, 'usage was not counted: too much waits for the database')
  }

  async function write(): Promise<void> {
    await storeUnstored()
    await storePending()
  }

  async function storeUnstored(): Promise<void> {
    if (unstored !== undefined) await store(unstored)
  }

  /** Takes what is pending before anything is awaited. */
  async function storePending(): Promise<void> {
    if (pending.size === 0) return
    const rows = [...pending.values()]
    pending = new Map()
    await store({ token: newId(), rows })
  }

  async function store(batch: Batch): Promise<void> {
    unstored = batch
    await traces.insertOnce(USAGE_TABLE, batch.rows, batch.token)
    unstored = undefined
    const payers = batch.rows.map(({ entity, project, key }) => ({ entity, project, key }))
    sendAll(peers, 'usage', payers)
  }

  const flush = (): Promise<void> => inTurn(write)

  function whileStored(begin: () => void, read: () => Promise<void>): Promise<void> {
    return inTurn(async () => {
      await storeUnstored()
      begin()
      await storePending()
      await read()
    })
  }

  function record(spending: Spending): UsageRow {
    const row = rowOf(spending)
    add({ ...row })
    return row
  }

  const flushOrWarn = (): Promise<void> =>
    flush().catch((error: unknown) => log.warn({ err: error }, 'usage could not be stored yet'))

  return { record, flush, whileStored, start: () => repeated(FLUSH_MS, flushOrWarn) }
}

/** Rows of one insert, and the token that identifies it. */
interface Batch {
  token: string
  rows: UsageRow[]
}

const COUNTS = [
  'requests',
  'requests_cut',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'reasoning_tokens',
] as const

function rowOf({ keyId, entity, project, model, baseModel, step, ...spent }: Spending): UsageRow {
  const usage = spent.usage ?? estimated(spent)
  return {
    entity,
    project: project?.project ?? '',
    model,
    base_model: baseModel,
    step: step ?? NO_STEP,
    key: keyId,
    hour: `${new Date().toISOString().slice(0, 13)}:00:00Z`,
    requests: 1,
    requests_cut: spent.usage === undefined ? 1 : 0,
    prompt_tokens: usage.prompt_tokens,
    cached_tokens: usage.cached_tokens,
    completion_tokens: usage.completion_tokens,
    reasoning_tokens: usage.reasoning_tokens,
  }
}

/** The step of a base model, which has none. */
export const NO_STEP = -1
