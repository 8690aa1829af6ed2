/** How calls get into each server, how many of them can be found there, and what else is asked. */
import { z } from 'zod'
import { otlpBody, spanAsCall } from './otlp.ts'
import { type Question, questions } from './questions.ts'
import { jsonOf, type Target, type TargetRequest } from './target.ts'
import { CALLS_PER_TRACE, completeBody, upsertBody, type WorkCall } from './workload.ts'

type Headers = Record<string, string>

/** A way into a server: `path`, `headers` and `body` of a request with a batch of calls. */
export interface Wire {
  project: string
  path: string
  headers: Headers
  body(project: string, calls: readonly WorkCall[]): string | Buffer
  /** Makes what calls need to be there; resolves with headers that name it. */
  prepare?(target: Target): Promise<Headers>
  /** How many calls can be found. */
  found(target: Target, prepared: Headers): Promise<number>
  questions(asked: readonly WorkCall[], calls: number, prepared: Headers): NamedQuestion[]
}

/** A request, and how many rows its reply has to have. */
export interface AskedQuestion {
  request: TargetRequest
  expected: number
  rows: (reply: Buffer) => number
}

export interface NamedQuestion extends AskedQuestion {
  name: string
  /** Like it, with other answers. */
  others?: AskedQuestion[]
}

const PROJECT = 'bench/traces'
/** Phoenix has no slash in the names of projects. */
const PHOENIX_PROJECT = 'bench-traces'

const MLFLOW_PAGE = 500

const JSON_TYPE = { 'content-type': 'application/json' }
const OTLP_TYPE = { 'content-type': 'application/x-protobuf' }

/** Any key does. */
const KEY = { authorization: `Basic ${Buffer.from(`api:local-${'0'.repeat(40)}`).toString('base64')}` }

const Counted = z.object({ count: z.number() })
const PhoenixSpans = z.object({ data: z.array(z.unknown()) })
const PhoenixProjects = z.object({
  data: z.object({
    projects: z.object({
      edges: z.array(z.object({ node: z.object({ name: z.string(), recordCount: z.number() }) })),
    }),
  }),
})
const MlflowExperiment = z.object({ experiment_id: z.string() })
const MlflowTraces = z.object({
  traces: z.array(z.unknown()).default([]),
  next_page_token: z.string().nullish(),
})

/** What all servers of the trace API have in common. */
const TRACE_API = {
  project: PROJECT,
  async found(target: Target): Promise<number> {
    const reply = await target.ask({
      path: '/calls/query_stats',
      headers: { ...KEY, ...JSON_TYPE },
      body: JSON.stringify({ project_id: PROJECT }),
    })
    return Counted.parse(jsonOf(reply)).count
  },
  /** Each question, and as many others like it as there are other calls asked for. */
  questions(asked: readonly WorkCall[], calls: number): NamedQuestion[] {
    const [first = {}, ...others] = asked.map((call, number) => questions(PROJECT, call, calls, number))
    return Object.entries(first).map(([name, question]) => ({
      name,
      ...requestOf(question),
      others: others.flatMap((other) => (other[name] === undefined ? [] : requestOf(other[name]))),
    }))
  },
}

/** The request of a question to the trace API. */
export function requestOf({ path, body, expected, rows }: Question): AskedQuestion {
  return {
    request: { path, headers: { ...KEY, ...JSON_TYPE }, body: JSON.stringify(body) },
    expected,
    rows,
  }
}

const complete: Wire = {
  ...TRACE_API,
  path: `/v2/${PROJECT}/calls/complete`,
  headers: { ...KEY, ...JSON_TYPE },
  body: completeBody,
}

const upsert: Wire = {
  ...TRACE_API,
  path: '/call/upsert_batch',
  headers: { ...KEY, ...JSON_TYPE },
  body: upsertBody,
}

/** The questions that do not depend on where payloads have their fields. */
const OF_SPANS: readonly string[] = [
  'newest 50',
  'page of 50 at 5000',
  'newest 50 roots',
  'read by id',
  'one trace',
  'export of 5000',
]

const otlp: Wire = {
  ...TRACE_API,
  path: '/otel/v1/traces',
  headers: { ...KEY, ...OTLP_TYPE, project_id: PROJECT },
  body: otlpBody,
  questions: (asked, calls) =>
    TRACE_API.questions(asked.map(spanAsCall), calls).filter(({ name }) => OF_SPANS.includes(name)),
}

const phoenix: Wire = {
  project: PHOENIX_PROJECT,
  path: '/v1/traces',
  headers: OTLP_TYPE,
  body: otlpBody,
  async found(target) {
    const query = '{ projects { edges { node { name recordCount } } } }'
    const reply = await target.ask({
      path: '/graphql',
      headers: JSON_TYPE,
      body: JSON.stringify({ query }),
    })
    const nodes = PhoenixProjects.parse(jsonOf(reply)).data.projects.edges.map(({ node }) => node)
    return nodes.find(({ name }) => name === PHOENIX_PROJECT)?.recordCount ?? 0
  },
  questions: () => [
    {
      name: 'newest 50',
      request: { method: 'GET', path: `/v1/projects/${PHOENIX_PROJECT}/spans?limit=50` },
      expected: 50,
      rows: (reply) => PhoenixSpans.parse(jsonOf(reply)).data.length,
    },
  ],
}

const mlflow: Wire = {
  project: PROJECT,
  path: '/v1/traces',
  headers: OTLP_TYPE,
  body: otlpBody,
  /** Spans go to an experiment, which has to be there. */
  async prepare(target) {
    const reply = await target.ask({
      path: '/api/2.0/mlflow/experiments/create',
      headers: JSON_TYPE,
      body: JSON.stringify({ name: PROJECT }),
    })
    return { 'x-mlflow-experiment-id': MlflowExperiment.parse(jsonOf(reply)).experiment_id }
  },
  /** It lists traces, all of which have the same number of calls. */
  async found(target, prepared) {
    let traces = 0
    for (let token: string | undefined; ; ) {
      const reply = await target.ask(mlflowSearch(prepared, { max_results: MLFLOW_PAGE, page_token: token }))
      const page = MlflowTraces.parse(jsonOf(reply))
      traces += page.traces.length
      if (!page.next_page_token) return traces * CALLS_PER_TRACE
      token = page.next_page_token
    }
  },
  questions: (_asked, _calls, prepared) => [
    {
      name: 'newest 50',
      request: mlflowSearch(prepared, { max_results: 50, order_by: ['timestamp_ms DESC'] }),
      expected: 50,
      rows: (reply) => MlflowTraces.parse(jsonOf(reply)).traces.length,
    },
  ],
}

export const WIRES = { complete, upsert, otlp, phoenix, mlflow }

function mlflowSearch(prepared: Headers, search: object): TargetRequest {
  const experiment = { experiment_id: prepared['x-mlflow-experiment-id'] }
  const locations = [{ type: 'MLFLOW_EXPERIMENT', mlflow_experiment: experiment }]
  return {
    path: '/api/3.0/mlflow/traces/search',
    headers: JSON_TYPE,
    body: JSON.stringify({ locations, ...search }),
  }
}
