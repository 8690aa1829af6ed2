import { LRUCache } from 'lru-cache'

/**
 * The newest answers of a model that speeds are computed from: enough for a percentile, and old ones are soon replaced.
 */
const ANSWERS_MAX = 128

/** Models kept in memory; beyond it the one that answered longest ago is dropped. */
const MODELS_MAX = 256

/** One whole answer; times are of `performance.now()`. */
export interface Answered {
  /** When the request was admitted. */
  startedAt: number
  /** When the first event of a stream was passed on. */
  firstAt: number | undefined
  endedAt: number
  completion_tokens: number
}

/** Median and 95th percentile. */
export interface Percentiles {
  p50: number
  p95: number
}

/** How fast a model has answered; waiting for the engine is part of it. */
export interface Speeds {
  answers: number
  duration_ms: Percentiles
  /** Of streams; null when there were none. */
  time_to_first_token_ms: Percentiles | null
  /** Of one answer, over its whole duration; null when nothing was generated. */
  tokens_per_second: Percentiles | null
}

/** The newest answers of each model. */
export interface AnswerSpeeds {
  record(model: string, answer: Answered): void
  of(model: string): Speeds | undefined
}

export function createSpeeds(): AnswerSpeeds {
  const answersOf = new LRUCache<string, Answered[]>({ max: MODELS_MAX })

  function record(model: string, answer: Answered): void {
    const answers = answersOf.get(model) ?? []
    answers.push(answer)
    if (answers.length > ANSWERS_MAX) answers.shift()
    answersOf.set(model, answers)
  }

  function of(model: string): Speeds | undefined {
    const answers = answersOf.peek(model)
    return answers && speedsOf(answers)
  }

  return { record, of }
}

function speedsOf(answers: readonly Answered[]): Speeds {
  const durations = answers.map(({ startedAt, endedAt }) => endedAt - startedAt)
  const firsts = answers.flatMap(({ startedAt, firstAt }) =>
    firstAt === undefined ? [] : [firstAt - startedAt],
  )
  const rates = answers
    .filter(({ completion_tokens }) => completion_tokens > 0)
    .map(({ startedAt, endedAt, completion_tokens }) => (completion_tokens * 1000) / (endedAt - startedAt))
  return {
    answers: answers.length,
    duration_ms: percentiles(durations) ?? { p50: 0, p95: 0 },
    time_to_first_token_ms: percentiles(firsts),
    tokens_per_second: percentiles(rates),
  }
}

function percentiles(values: readonly number[]): Percentiles | null {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number | undefined => sorted[Math.ceil(share * sorted.length) - 1]
  const [p50, p95] = [at(0.5), at(0.95)]
  return p50 === undefined || p95 === undefined ? null : { p50: rounded(p50), p95: rounded(p95) }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
