import { createBell } from './bell.ts'
import { GB } from './memory-estimate.ts'
import { type EngineMemory, PartLost, type PartState, type WhenFull } from './port.ts'

/** Retry-After for requests without room, in which most running answers end. */
const NO_ROOM_RETRY_SECONDS = 15

/** An engine process that can be started and stopped. */
export interface Part {
  readonly name: string
  state(): PartState
  /** Estimated memory that it needs while it runs. */
  memoryBytes(): number
  /** Measures `memoryBytes` before a start. */
  measure?(): Promise<void>
  /** Starts to keep its process running; its state shows how that goes. */
  start(): void
  /** Ends its process; resolves once that has ended. */
  stop(reason: string): Promise<void>
}

/** The share of one engine process in the memory budget. */
export interface Seat {
  users(): number
  /** Counts a user until the returned function is called. An engine process with a user is never stopped. */
  use(): () => void
  /** Starts the process once there is room for it. @throws PartLost with the numbers; the signal's reason. */
  start(whenFull: WhenFull, signal: AbortSignal): Promise<void>
  /** Removes an engine process that has stopped for good. */
  leave(): void
}

export interface Parts {
  /** `keep`: stopped only to make room, and then last. */
  add(part: Part, rank: 'keep' | 'stop-when-idle'): Seat
  memory(): EngineMemory
}

export interface PartsOptions {
  budgetBytes: number
  /** An engine process without use for this long is stopped; 0 for never. */
  idleMs: number
}

interface Member {
  part: Part
  isKept: boolean
  users: number
  lastUsedAt: number
}

/** Shares a memory budget among engine processes: to make room, unused ones are stopped. */
export function createParts({ budgetBytes, idleMs }: PartsOptions): Parts {
  const members = new Set<Member>()
  const freed = createBell()

  const running = (): Member[] =>
    [...members].filter(({ part }) => !['idle', 'stopped'].includes(part.state()))
  const usedBytes = (): number => bytesOf(running())

  /** The processes to stop so that another fits; undefined when stopping is not enough. */
  function toStop(wanted: Part): Member[] | undefined {
    let missing = usedBytes() + wanted.memoryBytes() - budgetBytes
    const chosen: Member[] = []
    for (const member of running().filter(isFree).filter(hasRoom).sort(byWorth)) {
      if (missing <= 0) break
      chosen.push(member)
      missing -= member.part.memoryBytes()
    }
    return missing > 0 ? undefined : chosen
  }

  async function start(part: Part, whenFull: WhenFull, signal: AbortSignal): Promise<void> {
    await part.measure?.()
    while (part.state() === 'idle') {
      signal.throwIfAborted()
      const victims = toStop(part)
      if (victims === undefined) {
        if (whenFull === 'refuse' || part.memoryBytes() > budgetBytes) throw noRoom(part)
        await freed.next(signal)
      } else if (victims.length > 0) {
        // The room may have been taken meanwhile, so everything is checked again.
        await Promise.all(victims.map((victim) => victim.part.stop(`stopped to make room for ${part.name}`)))
      } else {
        part.start()
      }
    }
  }

  function noRoom(part: Part): PartLost {
    const busy = running().filter((member) => !isFree(member))
    const users = busy.map((member) => `${member.part.name} (${gb(member.part.memoryBytes())})`)
    const inUse =
      users.length === 0 ? '' : `, of which ${gb(bytesOf(busy))} are in use by ${users.join(', ')}`
    const budget = `the memory budget is ${gb(budgetBytes)} (HEDDLE_ENGINE_MEMORY_GB)`
    return new PartLost(`${part.name} needs ${gb(part.memoryBytes())}, and ${budget}${inUse}`, {
      retryAfterSeconds: NO_ROOM_RETRY_SECONDS,
    })
  }

  return {
    memory: () => ({ budget_bytes: budgetBytes, used_bytes: usedBytes() }),

    add(part, rank) {
      const member: Member = { part, isKept: rank === 'keep', users: 0, lastUsedAt: 0 }
      members.add(member)
      let idleTimer: NodeJS.Timeout | undefined

      function release(): void {
        member.users--
        member.lastUsedAt = performance.now()
        if (member.users > 0) return
        freed.ring()
        if (idleMs === 0 || member.isKept) return
        const stop = () => void part.stop(`stopped after ${Math.round(idleMs / 1000)} s without use`)
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
        start: (whenFull, signal) => start(part, whenFull, signal),
        leave() {
          clearTimeout(idleTimer)
          members.delete(member)
        },
      }
    },
  }
}

/** A process that is being stopped frees its room, even if a request waits for its next start. */
function isFree({ part, users }: Member): boolean {
  return users === 0 || part.state() === 'stopping'
}

/** Stopping a remote server would free nothing here. */
function hasRoom({ part }: Member): boolean {
  return part.memoryBytes() > 0
}

/** Processes that are being stopped come first, then the least recently used; the kept ones come last. */
function byWorth(a: Member, b: Member): number {
  const isLeaving = (member: Member): number => (member.part.state() === 'stopping' ? 0 : 1)
  return isLeaving(a) - isLeaving(b) || Number(a.isKept) - Number(b.isKept) || a.lastUsedAt - b.lastUsedAt
}

function bytesOf(members: readonly Member[]): number {
  return members.reduce((sum, { part }) => sum + part.memoryBytes(), 0)
}

function gb(bytes: number): string {
  return `${(bytes / GB).toFixed(1)} GB`
}
