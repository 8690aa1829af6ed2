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
    tokens: sumOfKnown([...tokensByModel(call).values()]),
    cost: sumOfKnown([...costsByModel(call).values()]),
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

/** What each model was used for; models of which nothing is known are not among them. */
export type ByModel = ReadonlyMap<string, number>

/** Clients name tokens in two ways, and some only give the sum. */
export function tokensByModel({ summary }: Pick<Call, 'summary'>): ByModel {
  return byModel(objectOf(summary)['usage'], (used) => {
    const input = numberOf(used['prompt_tokens']) ?? numberOf(used['input_tokens'])
    const output = numberOf(used['completion_tokens']) ?? numberOf(used['output_tokens'])
    return numberOf(used['total_tokens']) ?? sumOfKnown([input, output])
  })
}

/** US dollars; of models that have a price. */
export function costsByModel({ summary }: Pick<Call, 'summary'>): ByModel {
  return byModel(objectOf(objectOf(summary)['weave'])['costs'], (costs) => sumOfMembers(costs, COSTS))
}

type Members = { [name: string]: Json | undefined }

function byModel(models: Json | undefined, countOf: (members: Members) => number | null): ByModel {
  return new Map(
    Object.entries(objectOf(models)).flatMap(([model, members]): [string, number][] => {
      const count = countOf(objectOf(members))
      return count === null ? [] : [[model, count]]
    }),
  )
}

/** Wire: what cached tokens cost of one model, which is in no other of its costs. */
export const CACHED_COSTS = ['cache_read_input_tokens_total_cost', 'cache_creation_input_tokens_total_cost']

const COSTS = ['prompt_tokens_total_cost', 'completion_tokens_total_cost', ...CACHED_COSTS]

/** The members with these names together; null when none of them is a number. */
export function sumOfMembers(object: Members, names: readonly string[]): number | null {
  return sumOfKnown(names.map((name) => numberOf(object[name])))
}

function sumOfKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0)
}
