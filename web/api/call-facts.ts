import type { Call } from './calls.ts'
import { numberOf, objectOf } from './json.ts'
import type { Json } from './wire.ts'

/** The state of a call; each has a shape and a colour of its own. */
export type CallStatus = 'ok' | 'error' | 'running' | 'abandoned'

/** What every page shows of a call beside its payloads. */
export interface CallFacts {
  name: string
  status: CallStatus
  statusWord: string
  startedMs: number
  /** Null while it runs. */
  endedMs: number | null
  tokens: number | null
  cost: number | null
  /** The models that it or a call below it used. */
  models: string[]
}

/** Whether a call is a whole evaluation, whose results have a page of their own. */
export function isEvaluation({ op_name }: Pick<Call, 'op_name'>): boolean {
  return /(?:^|\/op\/)Evaluation\.evaluate(?::|$)/.test(op_name)
}

type Told = Pick<Call, 'op_name' | 'display_name' | 'started_at' | 'ended_at' | 'summary'>

export function factsOf(call: Told): CallFacts {
  const summary = objectOf(call.summary)
  const derived = objectOf(summary['weave'])
  const usage = objectOf(summary['usage'])
  const word = String(derived['status'] ?? 'success')
  return {
    name: call.display_name ?? String(derived['trace_name'] ?? call.op_name),
    status: STATUSES[word] ?? 'ok',
    statusWord: word === 'descendant_error' ? 'error below' : word,
    startedMs: instantMs(call.started_at),
    endedMs: call.ended_at === null ? null : instantMs(call.ended_at),
    tokens: tokensOf(usage),
    cost: costOf(objectOf(derived['costs'])),
    models: Object.keys(usage),
  }
}

const STATUSES: Record<string, CallStatus> = {
  success: 'ok',
  error: 'error',
  running: 'running',
  descendant_error: 'abandoned',
}

/** Milliseconds of a time with microseconds, which a `Date` would cut off. */
function instantMs(iso: string): number {
  const micros = /\.\d{3}(\d{1,3})/.exec(iso)?.[1] ?? ''
  return Date.parse(iso) + Number(micros.padEnd(3, '0')) / 1000
}

/** Clients name tokens in two ways, and some only give the sum. */
function tokensOf(usage: { [model: string]: Json | undefined }): number | null {
  return sumOfKnown(
    Object.values(usage).map((each) => {
      const of = objectOf(each)
      const input = numberOf(of['prompt_tokens']) ?? numberOf(of['input_tokens'])
      const output = numberOf(of['completion_tokens']) ?? numberOf(of['output_tokens'])
      return numberOf(of['total_tokens']) ?? sumOfKnown([input, output])
    }),
  )
}

/** Wire: what cached tokens cost of one model, which is in no other of its costs. */
export const CACHED_COSTS = ['cache_read_input_tokens_total_cost', 'cache_creation_input_tokens_total_cost']

const COSTS = ['prompt_tokens_total_cost', 'completion_tokens_total_cost', ...CACHED_COSTS]

function costOf(costs: { [model: string]: Json | undefined }): number | null {
  return sumOfKnown(Object.values(costs).map((each) => sumOfMembers(objectOf(each), COSTS)))
}

/** The members with these names together; null when none of them is a number. */
export function sumOfMembers(
  object: { [name: string]: Json | undefined },
  names: readonly string[],
): number | null {
  return sumOfKnown(names.map((name) => numberOf(object[name])))
}

function sumOfKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0)
}
