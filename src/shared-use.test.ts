import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSharedUse } from './shared-use.ts'
import { type Heard, NO_PEERS, type Peers } from './stores/control-db/peers.ts'

/** Servers that hear each other at once. */
function createServers(names: readonly string[]): Map<string, Peers> {
  const heard: { by: string; topic: string; call: Heard }[] = []
  return new Map(
    names.map((own) => [
      own,
      {
        arePossible: true,
        self: own,
        onChange: () => undefined,
        onMessage: (topic, call) => void heard.push({ by: own, topic, call }),
        send(topic, text) {
          for (const one of heard) if (one.by !== own && one.topic === topic) one.call(text, own)
        },
      },
    ]),
  )
}

describe('createSharedUse', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('tells each other server once what was used, by kind and name', () => {
    const heard: unknown[] = []
    const [one, ...others] = [...createServers(['a', 'b', 'c'])].map(([name, peers]) => {
      const use = createSharedUse(peers)
      const add = use.counter('requests', (what, count) => heard.push([name, what, count]))
      use.counter('tokens', (what, count) => heard.push([name, 'tokens', what, count]))
      return { use, add }
    })
    one?.add('key:a b', 2)
    one?.add('key:a b', 3)
    one?.add('entity:team', 1)
    expect(heard).toEqual([])
    vi.advanceTimersByTime(1_000)
    expect(heard.toSorted()).toEqual([
      ['b', 'entity:team', 1],
      ['b', 'key:a b', 5],
      ['c', 'entity:team', 1],
      ['c', 'key:a b', 5],
    ])
    for (const { use } of [one, ...others].filter((server) => server !== undefined)) use[Symbol.dispose]()
  })

  it('knows what runs on all other servers, and forgets one that has ended', () => {
    const [first, second, third] = [...createServers(['a', 'b', 'c']).values()].map(createSharedUse)
    first?.gauge.set('key:k', 2)
    second?.gauge.set('key:k', 3)
    vi.advanceTimersByTime(1_000)
    expect(third?.gauge.elsewhere('key:k')).toBe(5)
    expect(first?.gauge.elsewhere('key:k')).toBe(3)
    second?.gauge.set('key:k', 1)
    vi.advanceTimersByTime(1_000)
    expect(third?.gauge.elsewhere('key:k')).toBe(3)
    first?.[Symbol.dispose]()
    vi.advanceTimersByTime(60_000)
    expect(third?.gauge.elsewhere('key:k')).toBe(1)
    second?.gauge.set('key:k', 0)
    vi.advanceTimersByTime(1_000)
    expect(third?.gauge.elsewhere('key:k')).toBe(0)
    second?.[Symbol.dispose]()
    third?.[Symbol.dispose]()
  })

  it('forgets what has ended although the message of its end was lost', () => {
    let isLost = false
    const [one, other] = [...createServers(['a', 'b']).values()].map((peers) =>
      createSharedUse({ ...peers, send: (topic, text) => void (isLost || peers.send(topic, text)) }),
    )
    one?.gauge.set('key:ended', 1)
    one?.gauge.set('key:runs', 1)
    vi.advanceTimersByTime(1_000)
    isLost = true
    one?.gauge.set('key:ended', 0)
    vi.advanceTimersByTime(1_000)
    isLost = false
    vi.advanceTimersByTime(10_000)
    expect(other?.gauge.elsewhere('key:ended')).toBe(0)
    expect(other?.gauge.elsewhere('key:runs')).toBe(1)
    one?.[Symbol.dispose]()
    other?.[Symbol.dispose]()
  })

  it('fits any number of names into texts that can be sent', () => {
    const counted = new Map<string, number>()
    const [one, other] = [...createServers(['a', 'b']).values()].map((peers) => {
      const send: Peers['send'] = (topic, text) => {
        expect(Buffer.byteLength(text)).toBeLessThan(7_500)
        peers.send(topic, text)
      }
      return createSharedUse({ ...peers, send })
    })
    other?.counter('tokens', (name, count) => counted.set(name, count))
    const add = one?.counter('tokens', () => undefined)
    for (let index = 0; index < 1_000; index++) add?.(`entity:${'ä'.repeat(100)}${index}`, index)
    vi.advanceTimersByTime(1_000)
    expect(counted.size).toBe(1_000)
    expect([...counted.values()].reduce((sum, count) => sum + count, 0)).toBe(499_500)
    one?.[Symbol.dispose]()
    other?.[Symbol.dispose]()
  })

  it('sends nothing where there are no other servers', () => {
    const use = createSharedUse(NO_PEERS)
    use.counter('requests', () => undefined)('key:k', 1)
    use.gauge.set('key:k', 1)
    expect(use.gauge.elsewhere('key:k')).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })
})
