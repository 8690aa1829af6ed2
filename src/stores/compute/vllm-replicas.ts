import { createHash } from 'node:crypto'
import {
  type Affinity,
  EngineProcessLost,
  type EngineProcessStatus,
  type Inference,
  type InferenceProcess,
} from './port.ts'

/**
 * How much more than its even share of the requests one replica takes, before those that its caches fit go to the next
 * one ("Consistent Hashing with Bounded Loads", Mirrokni and others, 2016).
 */
const SHARE_MAX = 1.25

/** Requests of which the parts of models are known: some steps of training, or some seconds of a busy server. */
const RECENT = 1_000

/**
 * Adapters that an engine keeps in memory (`--max-cpu-loras` of engine/src/engine/serve.py): models share these places
 * by their requests.
 */
const ADAPTERS_IN_MEMORY = 16

/** Of a request that any replica may answer. */
const ANY: Affinity = { model: undefined, prompt: '' }

/** One inference server, which starts and ends with all others. */
export type Replica = Inference & AsyncDisposable

/**
 * Several inference servers of one base model. A trained model is served by a number of them that grows with its share
 * of the recent requests: one for a rarely used model, all for one in training. Among these, requests whose prompts
 * begin alike go to the same replica, whose prefix cache then has the beginning. A replica that is busier than others
 * is passed over. When a replica is lost, only its own requests go elsewhere.
 */
export function createReplicas(replicas: readonly Replica[]): Replica {
  const recent = createRecentModels()

  function choose({ model, prompt }: Affinity): InferenceProcess | undefined {
    const running = replicas.flatMap((replica, index) => {
      const process = replica.running()
      return process === undefined ? [] : [{ process, index, users: replica.status().users }]
    })
    const all = running.reduce((sum, { users }) => sum + users, 0)
    const usersMax = Math.ceil((SHARE_MAX * (all + 1)) / running.length)
    const places = ADAPTERS_IN_MEMORY * running.length
    const width = model === undefined ? running.length : Math.ceil(recent.shareOf(model) * places)
    const ofModel = inOrderOf(model ?? '', running)
    const ordered = [...inOrderOf(prompt, ofModel.slice(0, width)), ...ofModel.slice(width)]
    return (ordered.find(({ users }) => users < usersMax) ?? ordered[0])?.process
  }

  return {
    requestsMax: replicas.reduce((sum, { requestsMax }) => sum + requestsMax, 0),
    running: () => choose(ANY),
    status: () => statusOf(replicas.map((replica) => replica.status())),

    async ready(signal, affinity = () => ANY) {
      const asked = affinity()
      if (asked.model !== undefined) recent.add(asked.model)
      const chosen = choose(asked)
      if (chosen !== undefined) return chosen
      try {
        return await Promise.any(replicas.map((replica) => replica.ready(signal)))
      } catch (error) {
        signal.throwIfAborted()
        const reasons = error instanceof AggregateError ? error.errors.map(String) : [String(error)]
        throw new EngineProcessLost(`No replica of the inference engine answers: ${reasons.join('; ')}`)
      }
    },

    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()))
    },
  }
}

/** Replicas in an order that a text decides, which each keeps when others come or go (rendezvous hashing). */
function inOrderOf<One extends { index: number }>(text: string, replicas: readonly One[]): One[] {
  const ranked = replicas.map((replica) => ({
    replica,
    rank: createHash('sha1').update(`${replica.index} ${text}`).digest('hex'),
  }))
  return ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1)).map(({ replica }) => replica)
}

/** Which trained models the last requests were for. */
function createRecentModels() {
  const window: string[] = []
  const counts = new Map<string, number>()
  let next = 0

  function forget(model: string): void {
    const count = counts.get(model) ?? 0
    if (count > 1) counts.set(model, count - 1)
    else counts.delete(model)
  }

  return {
    add(model: string): void {
      const oldest = window[next]
      if (oldest !== undefined) forget(oldest)
      window[next] = model
      next = (next + 1) % RECENT
      counts.set(model, (counts.get(model) ?? 0) + 1)
    },
    shareOf: (model: string): number => (counts.get(model) ?? 0) / Math.max(1, window.length),
  }
}

/** That of the replica in the best state, with what keeps others from answering. */
function statusOf(all: readonly EngineProcessStatus[]): EngineProcessStatus {
  const best = all.find(({ state }) => state === 'ready') ?? all[0]
  if (best === undefined) throw new TypeError('there are replicas')
  const errors = all.flatMap(({ state, last_error }) =>
    state === 'ready' || last_error === null ? [] : [last_error],
  )
  return {
    ...best,
    last_error: errors.length === 0 ? null : errors.join('; '),
    users: all.reduce((sum, { users }) => sum + users, 0),
    memory_bytes: all.reduce((sum, { memory_bytes }) => sum + memory_bytes, 0),
  }
}
