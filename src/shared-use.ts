import { z } from 'zod'
import { type Peers, sendAll, valuesIn } from './stores/control-db/peers.ts'

/** What a server has used is sent on so long after it was used: other servers allow too much meanwhile. */
const SEND_MS = 200

/** How often what runs is sent again, so that a server which has just started knows it too. */
const REPEAT_MS = 2_000

/** What was not reported again for this long does not run any more, or its server has ended. */
const ENDED_MS = 3 * REPEAT_MS

const Count = z.tuple([z.string(), z.number()])

/** How much of one thing was used. */
export type UsedOf = (name: string, count: number) => void

/** What all servers together use of limits. */
export interface SharedUse extends Disposable {
  /**
   * Adds up what was used of one kind of limit: by the minute, or of storage.
   * @param heard called with what another server has used since its last message
   * @returns a function that adds to it
   */
  counter(kind: 'requests' | 'tokens' | 'storage', heard: UsedOf): UsedOf
  /** Knows how many requests run. */
  gauge: Gauge
}

/** How much of each thing runs at this moment. */
export interface Gauge {
  set(name: string, running: number): void
  /** On all other servers together. */
  elsewhere(name: string): number
}

/** Without other servers, nothing is sent and nothing runs elsewhere. */
export function createSharedUse(peers: Peers): SharedUse {
  if (!peers.arePossible)
    return {
      counter: () => () => undefined,
      gauge: { set: () => undefined, elsewhere: () => 0 },
      [Symbol.dispose]: () => undefined,
    }
  const gauge = createGauge(peers)
  const outboxes = new DisposableStack()
  outboxes.use(gauge)
  return {
    counter(kind, heard) {
      const used = outboxes.use(createOutbox((counts) => sendAll(peers, kind, [...counts])))
      peers.onMessage(kind, (text = '') => {
        for (const [name, count] of valuesIn(text, Count)) heard(name, count)
      })
      return (name, count) => used.put(name, (before) => before + count)
    },
    gauge,
    [Symbol.dispose]: () => outboxes.dispose(),
  }
}

function createGauge(peers: Peers): Gauge & Disposable {
  const running = new Map<string, number>()
  /** By name, and then by server. */
  const others = new Map<string, Map<string, { count: number; at: number }>>()
  const changes = createOutbox((counts) => sendAll(peers, 'running', [...counts]))
  const timer = setInterval(() => {
    sendAll(peers, 'running', [...running])
    dropEnded()
  }, REPEAT_MS).unref()

  function dropEnded(): void {
    for (const [name, servers] of others) {
      for (const [server, { at }] of servers) if (isEnded(at)) servers.delete(server)
      if (servers.size === 0) others.delete(name)
    }
  }

  peers.onMessage('running', (text = '', from) => {
    for (const [name, count] of valuesIn(text, Count)) {
      const servers = others.get(name) ?? new Map<string, { count: number; at: number }>()
      others.set(name, servers.set(from, { count, at: performance.now() }))
    }
  })

  return {
    set(name, count) {
      if (count > 0) running.set(name, count)
      else running.delete(name)
      changes.put(name, () => count)
    },
    elsewhere(name) {
      let sum = 0
      for (const { count, at } of others.get(name)?.values() ?? []) if (!isEnded(at)) sum += count
      return sum
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      changes[Symbol.dispose]()
    },
  }
}

/** Whether what was last reported at a time has not been repeated since. */
function isEnded(at: number): boolean {
  return performance.now() - at > ENDED_MS
}

/** Collects what is put into it for a moment, and hands it on. */
function createOutbox(handOn: (counts: ReadonlyMap<string, number>) => void) {
  let pending = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    timer = undefined
    const counts = pending
    pending = new Map()
    handOn(counts)
  }

  return {
    put(name: string, next: (before: number) => number): void {
      pending.set(name, next(pending.get(name) ?? 0))
      timer ??= setTimeout(flush, SEND_MS).unref()
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
