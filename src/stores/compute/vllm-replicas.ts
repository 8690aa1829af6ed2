import { createHash } from 'node:crypto'
import { EngineProcessLost, type EngineProcessStatus, type Inference, type InferenceProcess } from './port.ts'

/**
 * How much more than its even share of the requests one replica takes, before those that its caches fit go to the next one
 * ("Consistent Hashing with Bounded Loads", Mirrokni and others, 2016).
 */
const SHARE_MAX = 1.25

/** One inference server, which starts and ends with all others. */
export type Replica = Inference & AsyncDisposable

/**
 * Several inference servers of one model. Requests with the same affinity go to the same replica, whose prefix cache then has their
 * beginning: the first in an order that the affinity decides, of those that answer and are not busier than others. When a replica is lost, only
 * its own requests go elsewhere.
 */
export function createReplicas(replicas: readonly Replica[]): Replica {
  function choose(affinity: string): InferenceProcess | undefined {
    const running = replicas.flatMap((replica, index) => {
      const process = replica.running()
      return process === undefined
        ? []
        : [{ process, users: replica.status().users, rank: rankOf(affinity, index) }]
    })
    const all = running.reduce((sum, { users }) => sum + users, 0)
    const usersMax = Math.ceil((SHARE_MAX * (all + 1)) / running.length)
    const ordered = running.toSorted((one, other) => one.rank.localeCompare(other.rank))
    return (ordered.find(({ users }) => users < usersMax) ?? ordered[0])?.process
  }

  return {
    requestsMax: replicas.reduce((sum, { requestsMax }) => sum + requestsMax, 0),
    running: () => choose(''),
    status: () => statusOf(replicas.map((replica) => replica.status())),

    async ready(signal, affinity = () => '') {
      const chosen = choose(affinity())
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

function rankOf(affinity: string, index: number): string {
  return createHash('sha1').update(`${index} ${affinity}`).digest('hex')
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
