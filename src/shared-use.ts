import { z } from 'zod'
import { type Peers, sendAll } from './stores/control-db/peers.ts'

/** What a server has used is sent on so long after it was used: other servers allow too much meanwhile. */
const SEND_MS = 200

/** How often what runs is sent again, so that a server which has just started knows it too. */
const REPEAT_MS = 2_000

/** What runs on a server that has sent nothing for this long does not count any more: it has ended. */
const ENDED_MS = 3 * REPEAT_MS

const Counts = z.array(z.tuple([z.string(), z.number()]))

/** What is limited by the minute. */
export type CountedKind = 'requests' | 'tokens'

/** How much of one thing was used. */
export type UsedOf = (name: string, count: number) => void

/** What all servers together use of limits. */
export interface SharedUse extends Disposable {
  /**
   * Adds up what was used of one kind of limit.
   * @param heard called with what another server has used since its last message
   * @returns a function that adds to it
   */
  counter(kind: CountedKind, heard: UsedOf): UsedOf
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
  const listeners = new Map<string, UsedOf>()
  const used = createOutbox((counts) => sendAll(peers, 'used', [...counts]))
  peers.onMessage('used', (text) => {
    for (const [name, count] of countsIn(text)) {
      const [kind = '', ...rest] = name.split(' ')
      listeners.get(kind)?.(rest.join(' '), count)
    }
  })
  const gauge = createGauge(peers)
  return {
    counter(kind, heard) {
      listeners.set(kind, heard)
      return (name, count) => used.put(`${kind} ${name}`, (before) => before + count)
    },
    gauge,
    [Symbol.dispose]() {
      used[Symbol.dispose]()
      gauge[Symbol.dispose]()
    },
  }
}

function createGauge(peers: Peers): Gauge & Disposable {
  const running = new Map<string, number>()
  /** By server, and then by name. */
  const others = new Map<string, { at: number; counts: Map<string, number> }>()
  const changes = createOutbox((counts) => sendAll(peers, 'running', [...counts]))
  const timer = setInterval(() => sendAll(peers, 'running', [...running]), REPEAT_MS).unref()

  peers.onMessage('running', (text, from) => {
    for (const [server, { at }] of others) if (performance.now() - at > ENDED_MS) others.delete(server)
    if (text === undefined) return
    const { counts } = others.get(from) ?? { counts: new Map<string, number>() }
    others.set(from, { at: performance.now(), counts })
    for (const [name, count] of countsIn(text)) {
      if (count > 0) counts.set(name, count)
      else counts.delete(name)
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
      for (const { at, counts } of others.values())
        if (performance.now() - at <= ENDED_MS) sum += counts.get(name) ?? 0
      return sum
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      changes[Symbol.dispose]()
    },
  }
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

/** What another server sent; one of an earlier or a later version may send something else, which is left out. */
function countsIn(text: string | undefined): [name: string, count: number][] {
  if (text === undefined) return []
  try {
    return Counts.parse(JSON.parse(text))
  } catch {
    return []
  }
}
