/**
 * How requests for many trained models fall on several inference servers: a simulation of their adapters and prefix
 * caches in front of which the server's own routing chooses. Beside it the same by the prompt alone, and by the model
 * alone.
 */
import { parseArgs } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { Affinity, InferenceProcess } from '../src/stores/compute/port.ts'
import { createReplicas, type Replica } from '../src/stores/compute/vllm-replicas.ts'
import { seeded } from '../src/test-random.ts'
import { writeResults } from './results-file.ts'
import { tableText } from './traces/report.ts'

/** Adapters that a server lists, as `LISTED_MAX` in the gateway has it. */
const ADAPTERS = 64

/** Beginnings of prompts that fit in the cache of keys and values of a server. */
const BEGINNINGS = 2_000

/** Seconds of an answer, and of loading an adapter before it. */
const ANSWER_S = 1
const LOAD_S = 1

interface Request {
  model: string
  prompt: string
}

interface Workload {
  name: string
  /** Requests a second that come in. */
  rate: number
  next: (random: () => number) => Request
}

/** Which affinity a request has. */
interface Policy {
  name: string
  affinityOf: (request: Request) => Affinity
}

/** What became of the requests of one workload under one policy, as parts of all. */
interface Outcome {
  workload: string
  policy: string
  adapterThere: number
  /** Of those whose beginning some server had seen. */
  beginningThere: number
  /** The busiest server's requests beside the mean. */
  busiest: number
}

const POLICIES: readonly Policy[] = [
  { name: 'model and prompt', affinityOf: ({ model, prompt }) => ({ model, prompt }) },
  { name: 'prompt alone', affinityOf: ({ prompt }) => ({ model: undefined, prompt }) },
  { name: 'model alone', affinityOf: ({ model }) => ({ model: undefined, prompt: model }) },
]

/** Which of so many a request is for, by Zipf's law with exponent 1. */
function zipf(random: () => number, count: number): number {
  return Math.min(count - 1, Math.floor(count ** random()) - 1)
}

const WORKLOADS: readonly Workload[] = [
  {
    name: '10,000 models, all the same',
    rate: 100,
    next: (random) => ({
      model: `m${Math.floor(random() * 10_000)}`,
      prompt: `p${Math.floor(random() * 1e6)}`,
    }),
  },
  {
    name: '10,000 models, few of them often (Zipf)',
    rate: 100,
    next: (random) => {
      const model = `m${zipf(random, 10_000)}`
      return { model, prompt: `${model} p${Math.floor(random() * 20)}` }
    },
  },
  {
    name: '400 models, all the same',
    rate: 100,
    next: (random) => {
      const model = `m${Math.floor(random() * 400)}`
      return { model, prompt: `${model} p${Math.floor(random() * 5)}` }
    },
  },
  {
    name: 'one model in training, 8 answers to each prompt',
    rate: 200,
    next: grouped(1),
  },
  {
    name: 'four models in training',
    rate: 200,
    next: grouped(4),
  },
]

/** Each prompt is asked eight times, one after the other, of a model. */
function grouped(models: number): Workload['next'] {
  let asked = 0
  return () => {
    const prompt = Math.floor(asked++ / 8)
    return { model: `m${prompt % models}`, prompt: `p${prompt}` }
  }
}

interface Server {
  replica: Replica
  users: number
  answered: number
  adapters: LRUCache<string, true>
  beginnings: LRUCache<string, true>
}

function createServer(name: string): Server {
  const process: InferenceProcess = {
    pathOf: (file) => file,
    post: () => Promise.reject(new Error('It is not asked')),
  }
  const replica: Replica = {
    requestsMax: Number.POSITIVE_INFINITY,
    status: () => ({
      name,
      state: 'ready',
      since: '',
      last_error: null,
      waiting_for: null,
      last_lines: [],
      users: server.users,
      memory_bytes: 0,
    }),
    running: () => process,
    ready: async () => process,
    async [Symbol.asyncDispose]() {},
  }
  const server: Server = {
    replica,
    users: 0,
    answered: 0,
    adapters: new LRUCache({ max: ADAPTERS }),
    beginnings: new LRUCache({ max: BEGINNINGS }),
  }
  return server
}

async function simulate(
  workload: Workload,
  policy: Policy,
  { servers: count, requests, seed }: { servers: number; requests: number; seed: number },
): Promise<Outcome> {
  const random = seeded(seed)
  const servers = Array.from({ length: count }, (_, index) => createServer(`server ${index}`))
  const replicas = createReplicas(servers.map(({ replica }) => replica))
  const signal = new AbortController().signal
  const seen = new Set<string>()
  const ends: { at: number; server: Server }[] = []
  const outcome = { adapters: 0, beginnings: 0, known: 0 }
  for (let asked = 0, now = 0; asked < requests; asked++) {
    // Poisson arrivals.
    now -= Math.log(1 - random()) / workload.rate
    while (ends.length > 0 && (ends[0]?.at ?? 0) <= now) {
      const ended = ends.shift()
      if (ended !== undefined) ended.server.users--
    }
    const request = workload.next(random)
    const chosen = await replicas.ready(signal, () => policy.affinityOf(request))
    const server = servers.find(({ replica }) => replica.running() === chosen)
    if (server === undefined) throw new Error('An unknown server was chosen')
    const hasAdapter = server.adapters.get(request.model) === true
    // A prefix is cached for one adapter.
    const beginning = `${request.model} ${request.prompt}`
    if (hasAdapter) outcome.adapters++
    if (seen.has(beginning)) outcome.known++
    if (server.beginnings.get(beginning) === true) outcome.beginnings++
    seen.add(beginning)
    server.adapters.set(request.model, true)
    server.beginnings.set(beginning, true)
    server.users++
    server.answered++
    const at = now + ANSWER_S + (hasAdapter ? 0 : LOAD_S)
    const place = ends.findLastIndex((end) => end.at <= at)
    ends.splice(place + 1, 0, { at, server })
  }
  return {
    workload: workload.name,
    policy: policy.name,
    adapterThere: outcome.adapters / requests,
    beginningThere: outcome.known === 0 ? Number.NaN : outcome.beginnings / outcome.known,
    busiest: (Math.max(...servers.map(({ answered }) => answered)) * count) / requests,
  }
}

async function main(): Promise<void> {
  const { values: given } = parseArgs({
    options: {
      servers: { type: 'string', default: '8' },
      requests: { type: 'string', default: '50000' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
    },
  })
  const options = {
    servers: Number(given.servers),
    requests: Number(given.requests),
    seed: Number(given.seed),
  }
  const outcomes: Outcome[] = []
  for (const workload of WORKLOADS)
    for (const policy of POLICIES) outcomes.push(await simulate(workload, policy, options))
  const percent = (part: number): string => (Number.isNaN(part) ? '' : `${(100 * part).toFixed(0)} %`)
  const rows = outcomes.map((outcome) => [
    outcome.workload,
    outcome.policy,
    percent(outcome.adapterThere),
    percent(outcome.beginningThere),
    outcome.busiest.toFixed(2),
  ])
  const head = ['requests for', 'chosen by', 'adapter is there', 'beginning is there', 'busiest, of the mean']
  process.stdout.write(`\n${tableText({ head, rows })}\n`)
  writeResults(given.json, { options, outcomes })
}

await main()
