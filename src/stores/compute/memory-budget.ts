import { GB } from './memory-estimate.ts'
import { createNotifier } from './notifier.ts'
import { type EngineMemory, EngineProcessLost, type EngineProcessState, type WhenFull } from './port.ts'

/** Retry-After for requests without room, in which most running answers end. */
const NO_ROOM_RETRY_SECONDS = 15

/** As long as another process lacks room elsewhere, one that is unused is stopped this often. */
const ROOM_MS = 10_000

/** An engine process that can be started, and can give way. */
export interface EngineProcess {
  readonly name: string
  state(): EngineProcessState
  /** Estimated memory that it takes now, or once it is started. */
  memoryBytes(): number
  /** Memory that it takes besides `memoryBytes` once it is woken. */
  wakingBytes(): number
  /** Measures `memoryBytes` before a start. */
  measure?(): Promise<void>
  /** Starts to keep its process running, or wakes it; its state shows how that goes. */
  start(): void
  /** Gives its memory back, by its end or by its sleep; resolves once that is done. */
  giveWay(reason: string): Promise<void>
  /** Ends its process, asleep or not. */
  stop(reason: string): Promise<void>
}

/** The share of one engine process in the memory budget. */
export interface MemoryShare {
  users(): number
  /** Counts a user until the returned function is called. An engine process with a user is never stopped. */
  use(): () => void
  /** Starts the process once there is room for it. @throws EngineProcessLost with the numbers; the signal's reason. */
  start(whenFull: WhenFull, signal: AbortSignal): Promise<void>
  /**
   * Says, again and again, that its start waits for room that this budget does not know: unused processes are stopped.
   */
  lackRoom(): void
  /** Removes an engine process that has stopped for good. */
  leave(): void
}

export interface MemoryBudget {
  /** `keep`: stopped only to make room, and then last. */
  add(process: EngineProcess, rank: 'keep' | 'stop-when-idle'): MemoryShare
  memory(): EngineMemory
}

export interface MemoryBudgetOptions {
  budgetBytes: number
  /** An engine process without use for this long is stopped; 0 for never. */
  idleMs: number
  /** How often an unused process is stopped for one that lacks room. */
  roomMs?: number
}

/** States from which a request starts a process. */
const WAITS_FOR_START: readonly EngineProcessState[] = ['idle', 'asleep']

/** In which order processes give way; 1 for other states. */
const PLACES: Partial<Record<EngineProcessState, number>> = { stopping: 0, asleep: 2 }

interface Member {
  process: EngineProcess
  isKept: boolean
  users: number
  lastUsedAt: number
}

/** Shares a memory budget among engine processes: to make room, unused ones give way. */
export function createMemoryBudget({
  budgetBytes,
  idleMs,
  roomMs = ROOM_MS,
}: MemoryBudgetOptions): MemoryBudget {
  const members = new Set<Member>()
  const freed = createNotifier()

  const running = (): Member[] =>
    [...members].filter(({ process }) => !['idle', 'stopped'].includes(process.state()))
  const usedBytes = (): number => bytesOf(running())

  /** The processes that give way so that another fits; undefined when that is not enough. */
  function toGiveWay(wanted: EngineProcess): Member[] | undefined {
    const ofItself = wanted.state() === 'asleep' ? wanted.memoryBytes() : 0
    let missing = usedBytes() - ofItself + neededBytes(wanted) - budgetBytes
    const chosen: Member[] = []
    const others = running().filter(({ process }) => process !== wanted)
    for (const member of others.filter(isFree).filter(hasRoom).sort(byWorth)) {
      if (missing <= 0) break
      chosen.push(member)
      missing -= member.process.memoryBytes()
    }
    return missing > 0 ? undefined : chosen
  }

  async function start(process: EngineProcess, whenFull: WhenFull, signal: AbortSignal): Promise<void> {
    await process.measure?.()
    while (WAITS_FOR_START.includes(process.state())) {
      signal.throwIfAborted()
      const victims = toGiveWay(process)
      if (victims === undefined) {
        if (whenFull === 'refuse' || neededBytes(process) > budgetBytes) throw noRoom(process)
        await freed.next(signal)
      } else if (victims.length > 0) {
        // The room may have been taken meanwhile, so everything is checked again.
        await Promise.all(
          victims.map((victim) => victim.process.giveWay(`stopped to make room for ${process.name}`)),
        )
      } else {
        process.start()
      }
    }
  }

  function noRoom(process: EngineProcess): EngineProcessLost {
    const busy = running().filter((member) => !isFree(member))
    const users = busy.map((member) => `${member.process.name} (${gb(member.process.memoryBytes())})`)
    const inUse =
      users.length === 0 ? '' : `, of which ${gb(bytesOf(busy))} are in use by ${users.join(', ')}`
    const budget = `the memory budget is ${gb(budgetBytes)} (HEDDLE_ENGINE_MEMORY_GB)`
    return new EngineProcessLost(`${process.name} needs ${gb(neededBytes(process))}, and ${budget}${inUse}`, {
      retryAfterSeconds: NO_ROOM_RETRY_SECONDS,
    })
  }

  return {
    memory: () => ({ budget_bytes: budgetBytes, used_bytes: usedBytes() }),

    add(process, rank) {
      const member: Member = { process, isKept: rank === 'keep', users: 0, lastUsedAt: 0 }
      members.add(member)
      let idleTimer: NodeJS.Timeout | undefined

      function release(): void {
        member.users--
        member.lastUsedAt = performance.now()
        if (member.users > 0) return
        freed.notify()
        if (idleMs === 0 || member.isKept) return
        const stop = () => void process.stop(`stopped after ${Math.round(idleMs / 1000)} s without use`)
        idleTimer = setTimeout(stop, idleMs).unref()
      }

      return {
        users: () => member.users,
        use() {
          clearTimeout(idleTimer)
          member.users++
          let isOpen = true
          return () => {
            if (isOpen) release()
            isOpen = false
          }
        },
        start: (whenFull, signal) => start(process, whenFull, signal),
        lackRoom: createRepeated(roomMs, () => {
          if (member.users === 0) return
          const [unused] = running().filter(isUnused).sort(byWorth)
          void unused?.process.giveWay(`stopped to make room for ${process.name}`)
        }),
        leave() {
          clearTimeout(idleTimer)
          members.delete(member)
        },
      }
    },
  }
}

/** Memory that a process takes once it is started or woken. */
function neededBytes(process: EngineProcess): number {
  return process.memoryBytes() + (process.state() === 'asleep' ? process.wakingBytes() : 0)
}

/** A process that is being stopped frees its room, even if a request waits for its next start. */
function isFree({ process, users }: Member): boolean {
  return users === 0 || process.state() === 'stopping'
}

/** Whether it runs and has no users. */
function isUnused({ process, users }: Member): boolean {
  return users === 0 && process.state() === 'ready'
}

/** Calls a function whenever it was itself called for a time, without pauses as long as that. */
function createRepeated(everyMs: number, call: () => void): () => void {
  let since = Number.NEGATIVE_INFINITY
  let lastAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - lastAt > everyMs) since = now
    lastAt = now
    if (now - since < everyMs) return
    since = now
    call()
  }
}

/** Stopping a remote server would free nothing here. */
function hasRoom({ process }: Member): boolean {
  return process.memoryBytes() > 0
}

/**
 * Processes that are being stopped come first, then the least recently used; the kept ones come late, and last those
 * that sleep, whose end gives little.
 */
function byWorth(a: Member, b: Member): number {
  const place = ({ process }: Member): number => PLACES[process.state()] ?? 1
  return place(a) - place(b) || Number(a.isKept) - Number(b.isKept) || a.lastUsedAt - b.lastUsedAt
}

function bytesOf(members: readonly Member[]): number {
  return members.reduce((sum, { process }) => sum + process.memoryBytes(), 0)
}

function gb(bytes: number): string {
  return `${(bytes / GB).toFixed(1)} GB`
}
