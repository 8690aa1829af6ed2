/**
 * The calls that every server gets: chat-shaped, about 2 kB each, traces of eight, half a second apart. The same number
 * makes the same calls; only the ids differ from server to server, so that none meets one twice.
 */
import { randomBytes } from 'node:crypto'
import { seeded } from '../../src/test-random.ts'

/** A call before it is written in the form of one of the ways in. */
export interface WorkCall {
  number: number
  id: string
  trace: string
  parent: string | null
  op: string
  startedMs: number
  endedMs: number
  model: string
  prompt: string
  answer: string
  score: number
  promptTokens: number
  completionTokens: number
}

export const CALLS_PER_TRACE = 8
const OPS = 37
/** Named gpt-0 to gpt-4, in turns. */
export const MODELS = 5
/** Between the starts of two calls. */
export const STEP_MS = 500
const PROMPT_WORDS = 110
const ANSWER_WORDS = 60
const WORDS = 5000

/** The first call starts here. */
export const FIRST_MS = Date.UTC(2026, 0, 1)

function vocabulary(): string[] {
  const random = seeded(1)
  const letters = 'etaoinshrdlucmfwypvbgk'
  const word = (): string =>
    Array.from({ length: 3 + Math.floor(random() * 8) }, () =>
      letters.charAt(random() * letters.length),
    ).join('')
  return Array.from({ length: WORDS }, word)
}

const VOCABULARY = vocabulary()

/** A UUID of version 7 for a moment. */
function uuid7(ms: number): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(ms, 0, 6)
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** So many calls, in order, from the one with number `first` on, which begins a trace. */
export function* makeCalls(
  calls: number,
  callsPerTrace = CALLS_PER_TRACE,
  first = 0,
): Generator<WorkCall, void> {
  let root = { id: '', trace: '' }
  for (let number = first; number < first + calls; number++) {
    const random = seeded(number * 7919 + 7)
    const text = (words: number): string =>
      Array.from({ length: words }, () => VOCABULARY[Math.floor(random() * WORDS)]).join(' ')
    const ms = FIRST_MS + number * STEP_MS
    const isRoot = number % callsPerTrace === 0
    const id = uuid7(ms)
    if (isRoot) root = { id, trace: uuid7(ms) }
    yield {
      number,
      id,
      trace: root.trace,
      parent: isRoot ? null : root.id,
      op: `op${number % OPS}`,
      startedMs: ms,
      endedMs: ms + 100 + (number % 900),
      model: `gpt-${number % MODELS}`,
      prompt: text(PROMPT_WORDS),
      answer: text(ANSWER_WORDS),
      score: Math.round(random() * 1e4) / 1e4,
      promptTokens: number % 500,
      completionTokens: number % 200,
    }
  }
}

/** Lists of at most `size` calls. */
export function* batchesOf(calls: Iterable<WorkCall>, size: number): Generator<WorkCall[], void> {
  let batch: WorkCall[] = []
  for (const call of calls) {
    batch.push(call)
    if (batch.length === size) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** What both wire forms of a call have in common. */
function startOf(project: string, call: WorkCall): object {
  return {
    project_id: project,
    id: call.id,
    trace_id: call.trace,
    parent_id: call.parent,
    op_name: opRef(project, call.op),
    started_at: iso(call.startedMs),
    attributes: { env: 'prod', v: call.number % 100 },
    inputs: { messages: [{ role: 'user', content: call.prompt }], model: call.model, k: call.number },
  }
}

function endOf(call: WorkCall): object {
  const usage = { prompt_tokens: call.promptTokens, completion_tokens: call.completionTokens, requests: 1 }
  return {
    ended_at: iso(call.endedMs),
    output: { choices: [{ message: { content: call.answer } }], score: call.score },
    summary: { usage: { [call.model]: usage } },
    exception: null,
  }
}

export const opRef = (project: string, op: string): string => `weave:///${project}/op/${op}:abc`

/** The body of `POST /v2/{entity}/{project}/calls/complete`. */
export function completeBody(project: string, calls: readonly WorkCall[]): string {
  return JSON.stringify({ batch: calls.map((call) => ({ ...startOf(project, call), ...endOf(call) })) })
}

/** The body of `POST /call/upsert_batch`: a start and an end for each call. */
export function upsertBody(project: string, calls: readonly WorkCall[]): string {
  const batch = calls.flatMap((call) => [
    { mode: 'start', req: { start: startOf(project, call) } },
    { mode: 'end', req: { end: { project_id: project, id: call.id, ...endOf(call) } } },
  ])
  return JSON.stringify({ batch })
}
