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

/** The affinity of a request to the base model. */
const of = (prompt: string) => ({ model: undefined, prompt })

describe('createReplicas', () => {
  it('sends requests with one affinity to one replica, and spreads affinities evenly', async () => {
    const all = names.map(fakeReplica)
    const replicas = createReplicas(all)
    const counts = new Map<InferenceProcess, number>()
    for (let index = 0; index < 400; index++) {
      const process = await replicas.ready(signal, () => of(`prompt ${index}`))
      expect(await replicas.ready(signal, () => of(`prompt ${index}`))).toBe(process)
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
    const before = await Promise.all(affinities.map((one) => replicas.ready(signal, () => of(one))))
    const [lost] = all
    if (lost === undefined) throw new TypeError('there are four')
    lost.isUp = false
    const after = await Promise.all(affinities.map((one) => replicas.ready(signal, () => of(one))))
    expect(after).not.toContain(lost.process)
    for (const [index, process] of before.entries())
      if (process !== lost.process) expect(after[index]).toBe(process)
    expect(replicas.status()).toMatchObject({ state: 'ready', last_error: 'a is down' })
  })

  it('passes a replica over that is much busier than the others', async () => {
    const all = names.map(fakeReplica)
    const replicas = createReplicas(all)
    const chosen = await replicas.ready(signal, () => of('popular'))
    const busy = all.find(({ process }) => process === chosen)
    if (busy === undefined) throw new TypeError('it is one of them')
    busy.users = 40
    for (const other of all) if (other !== busy) other.users = 20
    expect(await replicas.ready(signal, () => of('popular'))).not.toBe(chosen)
    for (const other of all) other.users = 38
    expect(await replicas.ready(signal, () => of('popular'))).toBe(chosen)
  })

  it('answers for a trained model by one replica where it is rare, and by all where it is not', async () => {
    const replicas = createReplicas(names.map(fakeReplica))
    const ask = (model: string, prompt: number) =>
      replicas.ready(signal, () => ({ model, prompt: `prompt ${prompt}` }))
    const ofRare = new Map<string, Set<InferenceProcess>>()
    for (let prompt = 0; prompt < 20; prompt++) {
      // Until as many requests are known as are looked at, each model is a large part of them.
      if (prompt === 10) ofRare.clear()
      for (let index = 0; index < 100; index++) {
        const model = `model ${index}`
        const known = ofRare.get(model) ?? new Set()
        ofRare.set(model, known.add(await ask(model, prompt)))
      }
    }
    const all = [...ofRare.values()].map((processes) => [...processes])
    expect(all.filter((processes) => processes.length > 1)).toEqual([])
    expect(new Set(all.flat()).size).toBe(4)
    for (let prompt = 0; prompt < 1_000; prompt++) await ask('in training', prompt)
    const counts = new Map<InferenceProcess, number>()
    for (let prompt = 0; prompt < 400; prompt++) {
      const process = await ask('in training', prompt)
      expect(await ask('in training', prompt)).toBe(process)
      counts.set(process, (counts.get(process) ?? 0) + 1)
    }
    expect(counts.size).toBe(4)
    for (const count of counts.values()) expect(count).toBeGreaterThan(60)
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
