import { describe, expect, it } from 'vitest'
import { EngineProcessLost, type EngineProcessStatus, type InferenceProcess } from './port.ts'
import { createReplicas, type Replica } from './vllm-replicas.ts'

/** A replica whose state a test sets. */
interface FakeReplica extends Replica {
  process: InferenceProcess
  isUp: boolean
  users: number
}

function fakeReplica(name: string): FakeReplica {
  const process: InferenceProcess = {
    pathOf: (file) => file,
    post: () => Promise.reject(new TypeError('is not used')),
  }
  const status = (): EngineProcessStatus => ({
    name,
    state: replica.isUp ? 'ready' : 'failed',
    since: '',
    last_error: replica.isUp ? null : `${name} is down`,
    waiting_for: null,
    last_lines: [],
    users: replica.users,
    memory_bytes: 0,
  })
  const replica: FakeReplica = {
    process,
    isUp: true,
    users: 0,
    requestsMax: 128,
    status,
    running: () => (replica.isUp ? process : undefined),
    ready: async () => {
      if (replica.isUp) return process
      throw new EngineProcessLost(`${name} is down`)
    },
    async [Symbol.asyncDispose]() {},
  }
  return replica
}

const names = ['a', 'b', 'c', 'd']
const signal = new AbortController().signal

describe('createReplicas', () => {
  it('sends requests with one affinity to one replica, and spreads affinities evenly', async () => {
    const all = names.map(fakeReplica)
    const replicas = createReplicas(all)
    const counts = new Map<InferenceProcess, number>()
    for (let index = 0; index < 400; index++) {
      const process = await replicas.ready(signal, () => `prompt ${index}`)
      expect(await replicas.ready(signal, () => `prompt ${index}`)).toBe(process)
      counts.set(process, (counts.get(process) ?? 0) + 1)
    }
    expect(counts.size).toBe(4)
    for (const count of counts.values()) expect(count).toBeGreaterThan(60)
    expect(replicas.requestsMax).toBe(512)
  })

  it('moves only the affinities of a replica that is lost', async () => {
    const all = names.map(fakeReplica)
    const replicas = createReplicas(all)
    const affinities = Array.from({ length: 100 }, (_, index) => `prompt ${index}`)
    const before = await Promise.all(affinities.map((one) => replicas.ready(signal, () => one)))
    const [lost] = all
    if (lost === undefined) throw new TypeError('there are four')
    lost.isUp = false
    const after = await Promise.all(affinities.map((one) => replicas.ready(signal, () => one)))
    expect(after).not.toContain(lost.process)
    for (const [index, process] of before.entries())
      if (process !== lost.process) expect(after[index]).toBe(process)
    expect(replicas.status()).toMatchObject({ state: 'ready', last_error: 'a is down' })
  })

  it('passes a replica over that is much busier than the others', async () => {
    const all = names.map(fakeReplica)
    const replicas = createReplicas(all)
    const chosen = await replicas.ready(signal, () => 'popular')
    const busy = all.find(({ process }) => process === chosen)
    if (busy === undefined) throw new TypeError('it is one of them')
    busy.users = 40
    for (const other of all) if (other !== busy) other.users = 20
    expect(await replicas.ready(signal, () => 'popular')).not.toBe(chosen)
    for (const other of all) other.users = 38
    expect(await replicas.ready(signal, () => 'popular')).toBe(chosen)
  })

  it('waits for the first that answers, and says why none does', async () => {
    const all = names.map(fakeReplica)
    for (const replica of all) replica.isUp = false
    const replicas = createReplicas(all)
    expect(replicas.running()).toBeUndefined()
    await expect(replicas.ready(signal)).rejects.toThrow('No replica of the inference engine answers')
    const [, second] = all
    if (second === undefined) throw new TypeError('there are four')
    second.isUp = true
    expect(await replicas.ready(signal)).toBe(second.process)
  })
})
