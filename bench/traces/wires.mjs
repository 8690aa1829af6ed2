/** How calls get into each server, how many of them can be found there, and what else is asked. */
import { otlpBody } from './otlp.mjs'
import { questions } from './questions.mjs'
import { CALLS_PER_TRACE, completeBody, upsertBody } from './workload.mjs'

const PROJECT = 'bench/traces'
/** Phoenix has no slash in the names of projects. */
const PHOENIX_PROJECT = 'bench-traces'

const MLFLOW_PAGE = 500

const JSON_TYPE = { 'content-type': 'application/json' }
const OTLP_TYPE = { 'content-type': 'application/x-protobuf' }

/** Any key does. */
const KEY = { authorization: `Basic ${Buffer.from(`api:local-${'0'.repeat(40)}`).toString('base64')}` }

/** What all servers of the trace API have in common. */
const TRACE_API = {
  project: PROJECT,
  async found(target) {
    const reply = await target.ask({
      path: '/calls/query_stats',
      headers: { ...KEY, ...JSON_TYPE },
      body: JSON.stringify({ project_id: PROJECT }),
    })
    return JSON.parse(reply).count
  },
  /** Each question, and as many others like it as there are other calls asked for. */
  questions: (asked, calls) => {
    const [first, ...others] = asked.map((call, number) => questions(PROJECT, call, calls, number))
    return Object.entries(first).map(([name, question]) => ({
      name,
      ...requestOf(question),
      others: others.flatMap((other) => (other[name] === undefined ? [] : requestOf(other[name]))),
    }))
  },
}

function requestOf({ path, body, expected, rows }) {
  return {
    request: { path, headers: { ...KEY, ...JSON_TYPE }, body: JSON.stringify(body) },
    expected,
    rows,
  }
}

/** Each way in: `path`, `headers` and `body` of a request with a batch of calls. */
export const WIRES = {
  complete: {
    ...TRACE_API,
    path: `/v2/${PROJECT}/calls/complete`,
    headers: { ...KEY, ...JSON_TYPE },
    body: completeBody,
  },
  upsert: { ...TRACE_API, path: '/call/upsert_batch', headers: { ...KEY, ...JSON_TYPE }, body: upsertBody },
  otlp: {
    ...TRACE_API,
    path: '/otel/v1/traces',
    headers: { ...KEY, ...OTLP_TYPE, project_id: PROJECT },
    body: otlpBody,
    questions: (asked, calls) => TRACE_API.questions(asked, calls).filter(({ name }) => name === 'newest 50'),
  },
  phoenix: {
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
      const nodes = JSON.parse(reply).data.projects.edges.map(({ node }) => node)
      return nodes.find(({ name }) => name === PHOENIX_PROJECT)?.recordCount ?? 0
    },
    questions: () => [
      {
        name: 'newest 50',
        request: { method: 'GET', path: `/v1/projects/${PHOENIX_PROJECT}/spans?limit=50` },
        expected: 50,
        rows: (reply) => JSON.parse(reply).data.length,
      },
    ],
  },
  mlflow: {
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
      return { 'x-mlflow-experiment-id': JSON.parse(reply).experiment_id }
    },
    /** It lists traces, all of which have the same number of calls. */
    async found(target, prepared) {
      let traces = 0
      for (let token; ; ) {
        const reply = await target.ask(
          mlflowSearch(prepared, { max_results: MLFLOW_PAGE, page_token: token }),
        )
        const page = JSON.parse(reply)
        traces += page.traces?.length ?? 0
        token = page.next_page_token
        if (!token) return traces * CALLS_PER_TRACE
      }
    },
    questions: (_asked, _calls, prepared) => [
      {
        name: 'newest 50',
        request: mlflowSearch(prepared, { max_results: 50, order_by: ['timestamp_ms DESC'] }),
        expected: 50,
        rows: (reply) => JSON.parse(reply).traces.length,
      },
    ],
  },
}

function mlflowSearch(prepared, search) {
  const experiment = { experiment_id: prepared['x-mlflow-experiment-id'] }
  const locations = [{ type: 'MLFLOW_EXPERIMENT', mlflow_experiment: experiment }]
  return {
    path: '/api/3.0/mlflow/traces/search',
    headers: JSON_TYPE,
    body: JSON.stringify({ locations, ...search }),
  }
}
