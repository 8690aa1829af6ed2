import { post } from './bulk.ts'

/** Calls of one request. */
const BATCH = 2000

interface Node {
  name: string
  parent: string | null
  /** Milliseconds since the trace began. */
  start: number
  /** Null for a call that has not ended. */
  ms: number | null
  tokens?: number
  exception?: string
}

/** What a trace of any size has of the shapes that trees break on. */
export interface TraceShape {
  /** Calls below one another. */
  deep: number
  /** Calls beside one another, below one. */
  wide: number
  /** Steps of an agent, each with four calls. */
  steps: number
  /** Calls whose parent was never sent. */
  orphans: number
}

export interface LoadedTrace {
  root: string
  /** The innermost call of the deep chain. */
  deepest: string
  /** One that failed, far from the root. */
  failed: string
  count: number
}

/** Writes one trace over the public API: 30,000 calls unless the shape says otherwise. */
export async function loadTrace(
  url: string,
  project: string,
  shape: TraceShape = { deep: 2000, wide: 5000, steps: 4580, orphans: 99 },
): Promise<LoadedTrace> {
  const nodes = [...nodesOf(shape)]
  const idOf = ids()
  const now = Date.now() - 120_000
  const trace_id = idOf('root')
  const calls = nodes.map(([key, node]) => ({
    id: idOf(key),
    trace_id,
    parent_id: node.parent === null ? null : idOf(node.parent),
    op_name: node.name,
    started_at: new Date(now + node.start).toISOString(),
    attributes: {},
    inputs: { step: key, question: 'Which of these suppliers delivers within two days?' },
    ...(node.ms !== null && {
      ended_at: new Date(now + node.start + node.ms).toISOString(),
      output: node.exception === undefined ? { answer: `of ${key}` } : null,
      exception: node.exception ?? null,
      summary: node.tokens === undefined ? {} : { usage: { 'gpt-4o-mini': usageOf(node.tokens) } },
    }),
  }))
  const whole = calls.filter((call) => 'ended_at' in call)
  for (let first = 0; first < whole.length; first += BATCH)
    await post(url, `/v2/${project}/calls/complete`, { batch: whole.slice(first, first + BATCH) })
  for (const start of calls.filter((call) => !('ended_at' in call)))
    await post(url, `/v2/${project}/call/start`, { start })
  const failed = `step ${shape.steps - 1} search`
  return {
    root: idOf('root'),
    deepest: idOf(`deep ${shape.deep - 1}`),
    failed: idOf(failed),
    count: nodes.length,
  }
}

function* nodesOf({ deep, wide, steps, orphans }: TraceShape): Generator<[string, Node]> {
  const total = 60_000
  yield ['root', { name: 'research_agent', parent: null, start: 0, ms: total }]
  yield ['chain', { name: 'refine', parent: 'root', start: 10, ms: 9000 }]
  for (let at = 0; at < deep; at++) {
    const parent = at === 0 ? 'chain' : `deep ${at - 1}`
    yield [`deep ${at}`, { name: 'refine_once', parent, start: 10 + at, ms: 8000 - at }]
  }
  yield ['map', { name: 'map_documents', parent: 'root', start: 9000, ms: 11_000 }]
  for (let at = 0; at < wide; at++)
    yield [
      `doc ${at}`,
      { name: 'read_document', parent: 'map', start: 9000 + at * 2, ms: at % 7 === 0 ? 0 : 40 + (at % 900) },
    ]
  for (let at = 0; at < steps; at++)
    yield* stepOf(at, 20_000 + (at * (total - 20_000)) / steps, at === steps - 1 || at % 90 === 79)
  for (let at = 0; at < orphans; at++)
    yield [`lost ${at}`, { name: 'callback', parent: 'never sent', start: 30_000 + at * 10, ms: 5 }]
}

/** A step thinks, searches and writes; some fail, some clocks are wrong, the last still runs. */
function* stepOf(at: number, start: number, fails: boolean): Generator<[string, Node]> {
  const step = `step ${at}`
  yield [step, { name: 'agent_step', parent: 'root', start, ms: 30 }]
  yield [
    `${step} chat`,
    {
      name: 'openai.chat.completions.create',
      parent: step,
      start: start - (at % 50 === 3 ? 4 : 0),
      ms: 18,
      tokens: 200 + (at % 800),
    },
  ]
  yield [
    `${step} search`,
    {
      name: 'search_web',
      parent: step,
      start: start + 18,
      ms: 6,
      ...(fails && { exception: 'ConnectionError: the index did not answer' }),
    },
  ]
  yield [`${step} rank`, { name: 'rerank', parent: `${step} search`, start: start + 19, ms: 2 }]
  yield [
    `${step} tool`,
    { name: 'tool.write_note', parent: step, start: start + 24, ms: at === 4 ? null : 5 },
  ]
}

function usageOf(tokens: number): object {
  const prompt_tokens = Math.round(tokens * 0.8)
  return { prompt_tokens, completion_tokens: tokens - prompt_tokens, total_tokens: tokens, requests: 1 }
}

/** One id a key, new in each load. */
function ids(): (key: string) => string {
  const known = new Map<string, string>()
  return (key) => {
    const id = known.get(key) ?? crypto.randomUUID()
    known.set(key, id)
    return id
  }
}
