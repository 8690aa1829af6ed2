import { KEY } from '../wire/server.ts'

/** A call as the API takes it, whole. */
interface WholeCall {
  id: string
  trace_id: string
  parent_id?: string
  op_name: string
  started_at: string
  ended_at: string
  attributes: object
  inputs: object
  output: unknown
  summary: object
  exception?: string
  thread_id?: string
}

/** Calls of one request. */
const BATCH = 1000

const OPS = ['answer_question', 'summarize', 'retrieve', 'rerank', 'classify_intent', 'plan_trip']
const QUESTIONS = [
  'What is the refund policy for damaged goods?',
  'Summarize the meeting of last Tuesday in three sentences.',
  'Which of these suppliers delivers within two days?',
  'Plan three days in Lisbon for two people who like books.',
  'Ist diese Rechnung schon bezahlt?',
  'Où en est ma commande ? Πού είναι η παραγγελία μου;',
]
const MODELS = ['loom-small', 'loom-large', 'gpt-4o-mini']

interface LoadOptions {
  count: number
  /** Milliseconds; the last call starts a minute earlier. */
  now?: number
  spanMs?: number
  /** The number of the first call, so that those of a second load are others. */
  first?: number
}

/** Fills a project over the public API with calls like those of an application; every thirteenth failed. */
export async function loadCalls(
  url: string,
  project: string,
  { count, now = Date.now(), spanMs = 20 * 3_600_000, first: offset = 0 }: LoadOptions,
): Promise<void> {
  for (let first = 0; first < count; first += BATCH) {
    const size = Math.min(BATCH, count - first)
    const batch = Array.from({ length: size }, (_, index) =>
      callAt(first + index, { count, now, spanMs, offset }),
    )
    await post(url, `/v2/${project}/calls/complete`, { batch })
  }
}

function callAt(
  position: number,
  { count, now, spanMs, offset }: { count: number; now: number; spanMs: number; offset: number },
): WholeCall {
  const index = position + offset
  const start = now - spanMs + Math.floor((position / count) * (spanMs - 60_000))
  const latency = 40 + ((index * 7919) % 4200)
  const isError = index % 13 === 5
  const model = pick(MODELS, Math.floor(index / 2))
  const prompt = 120 + ((index * 31) % 900)
  const completion = 20 + ((index * 17) % 300)
  return {
    id: idAt(start, index),
    trace_id: idAt(start, index),
    op_name: pick(OPS, index),
    started_at: new Date(start).toISOString(),
    ended_at: new Date(start + latency).toISOString(),
    attributes: { env: index % 3 === 0 ? 'staging' : 'production', release: `1.${index % 7}.0` },
    inputs: {
      question: pick(QUESTIONS, index),
      top_k: index % 9,
      customer: { id: index, plan: index % 2 ? 'free' : 'pro' },
    },
    output: isError
      ? null
      : { answer: `Answer number ${index}: ${pick(QUESTIONS, index + 2)}`, confidence: (index % 100) / 100 },
    summary: {
      usage: {
        [model]: {
          prompt_tokens: prompt,
          completion_tokens: completion,
          total_tokens: prompt + completion,
          requests: 1,
        },
      },
    },
    ...(isError && { exception: `TimeoutError: the model did not answer within ${latency} ms` }),
    ...(index % 5 === 0 && { thread_id: `thread-${index % 50}` }),
  }
}

/** Rises with time, as the ids that clients make. */
function idAt(ms: number, index: number): string {
  const hex = ms.toString(16).padStart(12, '0') + index.toString(16).padStart(8, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18).padEnd(12, '0')}`
}

function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length]
  if (item === undefined) throw new Error('Nothing to pick from')
  return item
}

/** One request to the API with the key of the tests. */
export async function post(url: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return await response.json()
}
