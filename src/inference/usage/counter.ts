import type { Log } from '../../log.ts'
import { repeated } from '../../repeated.ts'
import { type Peers, sendAll } from '../../stores/control-db/peers.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { estimated, type Spending } from '../gateway/spending.ts'
import { USAGE_TABLE } from './queries.ts'
import type { UsageRow } from './usage-row.ts'

/** A killed server loses at most this much usage; a row a request would cost more than the request. */
const FLUSH_MS = 1_000

/** Rows that wait for the database; beyond it, usage is counted without its key and project. */
const PENDING_MAX = 10_000

/** Counts what requests cost, and adds it to the database once a second. */
export interface UsageCounter {
  /** Counts a request that has ended, and returns it as it will be stored. */
  record(spending: Spending): UsageRow
  /** Resolves when everything recorded so far can be read. */
  flush(): Promise<void>
  /**
   * Reads what was recorded before `begin`, and nothing that is recorded later: that is stored after `read` has ended.
   */
  whileStored(begin: () => void, read: () => Promise<void>): Promise<void>
  start(): AsyncDisposable
}

export function createUsageCounter(deps: {
  traces: TraceDb
  log: Log
  peers: Pick<Peers, 'send'>
}): UsageCounter {
  const { traces, log, peers } = deps
  let pending = new Map<string, UsageRow>()
  let last: Promise<void> = Promise.resolve()

  function add(row: UsageRow): void {
    const { entity, project, model, base_model, step, key, hour } = row
    const name = JSON.stringify([entity, project, model, base_model, step, key, hour])
    const sum = pending.get(name)
    if (sum !== undefined) {
      for (const count of COUNTS) sum[count] += row[count]
    } else if (pending.size < PENDING_MAX) pending.set(name, row)
    else if (project !== '') add({ ...row, entity: '', project: '', key: '' })
    else log.warn({ usage: row }, 'usage was not counted: too much waits for the database')
  }

  async function write(): Promise<void> {
    const rows = [...pending.values()]
    pending = new Map()
    try {
      await traces.insert(USAGE_TABLE, rows)
      const payers = rows.map(({ entity, project, key }) => ({ entity, project, key }))
      sendAll(peers, 'usage', payers)
    } catch (error) {
      log.warn({ err: error }, 'usage could not be stored yet')
      for (const row of rows) add(row)
    }
  }

  /** Does one piece of work with the database after the other. */
  function inOrder(work: () => Promise<void>): Promise<void> {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }

  const flush = (): Promise<void> => inOrder(write)

  function whileStored(begin: () => void, read: () => Promise<void>): Promise<void> {
    return inOrder(async () => {
      begin()
      await write()
      await read()
    })
  }

  function record(spending: Spending): UsageRow {
    const row = rowOf(spending)
    add({ ...row })
    return row
  }

  return { record, flush, whileStored, start: () => repeated(FLUSH_MS, flush) }
}

const COUNTS = [
  'requests',
  'requests_cut',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'reasoning_tokens',
] as const

function rowOf({ keyId, project, model, baseModel, step, ...spent }: Spending): UsageRow {
  const usage = spent.usage ?? estimated(spent)
  return {
    entity: project?.entity ?? '',
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
