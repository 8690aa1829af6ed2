import { LRUCache } from 'lru-cache'
import { newId } from '../ids.ts'
import type { Peers } from '../stores/control-db/peers.ts'
import type { DefinedKind } from './defined-kind.ts'
import { createDueInTurn } from './due-in-turn.ts'
import { endTurns } from './end-turns.ts'
import { idsInTurn } from './groups-in-turn.ts'
import * as leaseQueries from './lease-queries.ts'
import { type LeasesDeps, returnExpired, startHeartbeat } from './leases.ts'
import type { Pause } from './pause.ts'
import * as queries from './queries.ts'

/** Delay until work that another server added or released is noticed. */
const POLL_MS = 2_000

/**
 * The same where no other server shares the database, so that all work is known when it is added: a clock that was set,
 * or a machine that slept, may have made work due sooner. To look every two seconds takes a fifth of what an idle
 * server does.
 */
const POLL_ALONE_MS = 30_000

/** Pause after an error of the database, such as a full disk. */
const ERROR_PAUSE_MS = 2_000

/**
 * How long free slots of a kind wait for others to become free too. Those that are taken already may stay so for long.
 */
const GATHERING_MS = 1_000

export interface WorkerDeps extends LeasesDeps {
  peers: Pick<Peers, 'onMessage' | 'arePossible'>
  pause: Pause
  /** This server's name in leases. */
  owner: string
}

/** Takes due jobs of all kinds and runs them, as one of the servers that share a database; disposal ends that. */
export async function startWorker(deps: WorkerDeps): Promise<AsyncDisposable> {
  const { log, kinds, running, pause } = deps
  const stopping = new AbortController()
  const passing = {
    ...deps,
    ready: new Set<string>(),
    dueInTurn: createDueInTurn(deps.control),
    started: createStarted(),
    takenAt: new Map<string, number>(),
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const idleMs = await pass(passing).catch((error: unknown) => {
        log.error({ err: error }, 'the job queue pauses')
        return ERROR_PAUSE_MS
      })
      await pause.wait(idleMs)
    }
  }

  async function untilReady(kind: DefinedKind): Promise<void> {
    await kind.ready(stopping.signal)
    passing.ready.add(kind.kind)
    pause.wake()
  }

  await returnExpired(deps)
  for (const kind of kinds.values())
    untilReady(kind).catch((error: unknown) => {
      if (!stopping.signal.aborted) log.error({ err: error, kind: kind.kind }, 'jobs cannot be run here')
    })
  const heartbeat = startHeartbeat(deps)
  const looping = loop()
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error('The server is stopping'))
      pause.wake()
      await looping
      await running[Symbol.asyncDispose]()
      heartbeat[Symbol.dispose]()
    },
  }
}

interface PassDeps extends WorkerDeps {
  /** Kinds whose jobs this server can run. */
  ready: ReadonlySet<string>
  dueInTurn: ReturnType<typeof createDueInTurn>
  started: ReturnType<typeof createStarted>
  /** When jobs of each kind were last taken here, by `performance.now()`. */
  takenAt: Map<string, number>
}

/**
 * Entities of which is remembered when a job last started here, of each kind; one that is forgotten is served as a new
 * one.
 */
const ENTITIES_MAX = 10_000

/** When a job of each entity last started here, by kind. */
function createStarted() {
  const byKind = new Map<string, LRUCache<string, string>>()
  return (kind: string): LRUCache<string, string> => {
    const known = byKind.get(kind) ?? new LRUCache({ max: ENTITIES_MAX })
    byKind.set(kind, known)
    return known
  }
}

/** Takes due jobs; resolves with the time until the next one is due, in milliseconds. */
async function pass(deps: PassDeps): Promise<number> {
  const { ready } = deps
  await returnExpired(deps)
  let idleMs = deps.peers.arePossible ? POLL_MS : POLL_ALONE_MS
  for (const kind of deps.kinds.values()) {
    const ending = !ready.has(kind.kind) || kind.isPaused()
    idleMs = Math.min(idleMs, await takeDue(deps, kind, { ending }))
    const next = await queries.nextDue(deps.control, kind.kind)
    if (next !== undefined) idleMs = Math.min(idleMs, Date.parse(next) - Date.now() + 1)
    idleMs = Math.min(idleMs, await endTurns(deps, kind))
  }
  return Math.max(idleMs, 1)
}

/**
 * Fills free slots of a kind, some at a time, since each statement that takes jobs is a commit.
 * @returns milliseconds until free slots have waited long enough for others
 */
async function takeDue(
  { control, running, owner, leaseMs, dueInTurn, started, takenAt }: PassDeps,
  { kind, concurrency, entityConcurrency: entitySlots, order }: DefinedKind,
  { ending }: { ending: boolean },
): Promise<number> {
  const own = running.rows().filter((row) => row.kind === kind)
  const free = concurrency - own.length
  const gatheringMs = (takenAt.get(kind) ?? Number.NEGATIVE_INFINITY) + GATHERING_MS - performance.now()
  if (free === 0) return Number.POSITIVE_INFINITY
  if (free < Math.ceil(concurrency / 4) && gatheringMs > 0) return gatheringMs
  const ids =
    order === 'by-time'
      ? await dueInTurn({ kind, running: own, limit: free, entitySlots, ending })
      : (await idsInTurn(control, { kind, running: own, ending, startedHere: started(kind) })).slice(0, free)
  if (ids.length === 0) return Number.POSITIVE_INFINITY
  takenAt.set(kind, performance.now())
  for (const row of await leaseQueries.takeJobs(control, { kind, ids, owner, token: newId(), leaseMs })) {
    started(kind).set(row.entity, row.started_at ?? '')
    void running.run(row)
  }
  return Number.POSITIVE_INFINITY
}
