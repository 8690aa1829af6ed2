/**
 * Results of evaluations and annotation queues at size. Ten runs of ten thousand rows: a page of their rows side by
 * side, beside three pages of calls as large. A queue of 50,000 calls, beside one of 1,000: adding (for a thousand),
 * stats, the next item, filtered items.
 */
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { JSON_HEADERS } from '../scripts/own-server.ts'
import { writeResults } from './results-file.ts'
import { median } from './statistics.ts'
import { startServer } from './traces/servers.ts'
import { jsonOf, openTarget } from './traces/target.ts'

/** Sends a body; resolves with the reply. */
type Post = (path: string, body: object) => Promise<Buffer>

/** Medians by task, in milliseconds. */
type Times = Record<string, number>

const RUNS = 10
const PAGE = 100
const SMALL = 1000
const LARGE = 50_000
const CALLS_PER_REQUEST = 500
const QUEUED_PER_REQUEST = 1000
const ROUNDS = 15
const PROJECT = 'bench/evaluation'

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rows: { type: 'string', default: '10000' }, json: { type: 'string' } },
  })
  const server = await startServer('Heddle')
  const target = openTarget(server.url, 1)
  const post: Post = (path, body) => target.ask({ path, headers: JSON_HEADERS, body: JSON.stringify(body) })
  try {
    const results = {
      results: await measureResults(post, Number(values.rows)),
      queues: await measureQueues(post),
    }
    show(results)
    writeResults(values.json, results)
  } finally {
    await target.close()
    await server.stop()
  }
}

/** An id whose time is its place: ids of clients rise with time. */
function idOf(kind: number, index: number): string {
  return `01900000-0000-7${kind.toString(16).padStart(3, '0')}-8000-${index.toString(16).padStart(12, '0')}`
}

function call(fields: object): object {
  const times = { started_at: '2026-11-01T00:00:00Z', ended_at: '2026-11-01T00:00:01Z' }
  return { attributes: {}, inputs: {}, output: null, summary: {}, ...times, ...fields }
}

const opRef = (name: string): string => `weave:///${PROJECT}/op/${name}:v0`

/** One run: a call for itself, and for each row one for the row and one for the prediction, some 1 kB together. */
function* callsOfRun(run: number, rows: number): Generator<object> {
  const id = idOf(1, run)
  const trace_id = id
  const self = `weave:///${PROJECT}/object/evaluation:v0`
  const model = `weave:///${PROJECT}/object/model-${run}:v0`
  yield call({ id, trace_id, op_name: opRef('Evaluation.evaluate'), inputs: { self, model } })
  for (let row = 0; row < rows; row++) {
    const parent_id = idOf(16 + run, row)
    const example = `weave:///${PROJECT}/object/data:v0/attr/rows/id/row${String(row).padStart(8, '0')}`
    const output = `The answer to question ${row} is ${(row * 7919) % 1000}. ${'It is long. '.repeat(20)}`
    const scores = {
      exact: { match: (row + run) % 3 === 0 },
      quality: { score: ((row * 31 + run) % 100) / 100 },
    }
    yield call({
      id: parent_id,
      trace_id,
      parent_id: id,
      op_name: opRef('Evaluation.predict_and_score'),
      inputs: { self, model, example },
      output: { output, scores, model_latency: 0.5 },
    })
    yield call({
      id: idOf(32 + run, row),
      trace_id,
      parent_id,
      op_name: opRef('Model.predict'),
      inputs: { self: model, question: `${example}/key/question` },
      output,
      summary: { usage: { model: { prompt_tokens: 20, completion_tokens: 60, total_tokens: 80 } } },
    })
  }
}

async function importCalls(post: Post, calls: Iterable<object>): Promise<void> {
  const batch: object[] = []
  const send = async () => post(`/v2/${PROJECT}/calls/complete`, { batch: batch.splice(0) })
  for (const one of calls) if (batch.push(one) === CALLS_PER_REQUEST) await send()
  if (batch.length > 0) await send()
}

async function measureResults(post: Post, rows: number): Promise<Times> {
  for (let run = 0; run < RUNS; run++) {
    await importCalls(post, callsOfRun(run, rows))
    process.stdout.write(`\r${run + 1} of ${RUNS} runs of ${rows} rows are there`)
  }
  process.stdout.write('\n')
  const evaluation_call_ids = Array.from({ length: RUNS }, (_, run) => idOf(1, run))
  const asked = { evaluation_call_ids, limit: PAGE, offset: rows / 2 }
  const pages = async () => {
    for (let page = 0; page < 3; page++) {
      const filter = { parent_ids: [evaluation_call_ids[page]] }
      const limit = PAGE * RUNS
      await post('/calls/stream_query', { project_id: PROJECT, filter, limit, offset: rows / 2 })
    }
  }
  const query = (body: object) => () => post(`/v2/${PROJECT}/eval_results/query`, { ...asked, ...body })
  const $expr = { $gt: [{ $getField: 'scores.quality.score' }, { $literal: 0.9 }] }
  return interleaved({
    'three pages of calls': pages,
    'a page of results': query({}),
    'with a summary of all': query({ include_summary: true }),
    'filtered by a score': query({ filters: [{ query: { $expr } }], offset: 0 }),
    'sorted by a score': query({ sort_by: [{ field: 'scores.quality.score', direction: 'desc' }] }),
  })
}

async function measureQueues(post: Post): Promise<Times> {
  const ids = Array.from({ length: LARGE }, (_, index) => idOf(64, index))
  await importCalls(
    post,
    ids.map((id) =>
      call({ id, trace_id: id, op_name: 'asked', inputs: { q: 'x'.repeat(200) }, output: 'y' }),
    ),
  )
  const queues: { id: string; size: number; addedMs: number }[] = []
  for (const size of [SMALL, LARGE]) {
    const reply = await post('/annotation_queues', {
      project_id: PROJECT,
      name: `of ${size}`,
      scorer_refs: [],
    })
    const { id } = z.object({ id: z.string() }).parse(jsonOf(reply))
    const startedMs = performance.now()
    for (let at = 0; at < size; at += QUEUED_PER_REQUEST) {
      const call_ids = ids.slice(at, at + QUEUED_PER_REQUEST)
      await post(`/annotation_queues/${id}/items`, { project_id: PROJECT, call_ids, display_fields: [] })
    }
    queues.push({ id, size, addedMs: ((performance.now() - startedMs) / size) * QUEUED_PER_REQUEST })
  }
  const works = queues.map(({ id, size }) => {
    const items = (body: object): Promise<Buffer> =>
      post(`/annotation_queues/${id}/items/query`, { project_id: PROJECT, limit: 50, ...body })
    return {
      [`stats of ${size}`]: () => post('/annotation_queues/stats', { project_id: PROJECT, queue_ids: [id] }),
      [`next item of ${size}`]: () => items({ filter: { annotation_states: ['unstarted'] }, limit: 1 }),
      [`filtered items of ${size}`]: () =>
        items({ filter: { call_op_name: 'asked' }, include_position: true }),
    }
  })
  const times = await interleaved(Object.fromEntries(works.flatMap((work) => Object.entries(work))))
  return {
    ...Object.fromEntries(queues.map(({ size, addedMs }) => [`adding to ${size}`, addedMs])),
    ...times,
  }
}

/** Medians in ms; the tasks alternate, so that other load of the machine affects all of them. */
async function interleaved(works: Record<string, () => Promise<unknown>>): Promise<Times> {
  const times = Object.entries(works).map(([name, work]) => ({ name, work, taken: [] as number[] }))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { work, taken } of times) {
      const startedMs = performance.now()
      await work()
      // The first round only warms up.
      if (round > 0) taken.push(performance.now() - startedMs)
    }
  }
  return Object.fromEntries(times.map(({ name, taken }) => [name, median(taken)]))
}

function show({ results, queues }: { results: Times; queues: Times }): void {
  const whole = results['three pages of calls'] ?? Number.NaN
  for (const [name, ms] of Object.entries(results))
    process.stdout.write(
      `${name.padEnd(24)} ${ms.toFixed(1).padStart(8)} ms  ${(ms / whole).toFixed(2)} of three pages\n`,
    )
  for (const what of ['adding to', 'stats of', 'next item of', 'filtered items of']) {
    const msOf = (size: number): number => queues[`${what} ${size}`] ?? Number.NaN
    const [small, large] = [msOf(SMALL), msOf(LARGE)]
    process.stdout.write(
      `${what.padEnd(18)} ${SMALL}: ${small.toFixed(1)} ms, ${LARGE}: ${large.toFixed(1)} ms, ratio ${(large / small).toFixed(2)}\n`,
    )
  }
}

await main()
