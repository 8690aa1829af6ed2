import type { ReadTrial } from '../evaluation/eval-results/trials.ts'
import { JsonText, memberText } from '../lossless-json.ts'
import type { Call } from '../trace/calls/messages/call-wire.ts'
import { isRef } from '../trace/ref-uri.ts'
import { refsAmong, withValues } from '../trace/refs/input-refs.ts'
import type { Refs } from '../trace/refs/service.ts'
import { type Candidate, merged } from './candidate.ts'

/** A call, and for a prediction what the evaluation says of it. */
export interface FoundCall {
  call: Call
  trial?: ReadTrial
}

/** Calls with what the refs among their inputs lead to. */
export async function candidatesOf(
  refs: Pick<Refs, 'resolve'>,
  projectId: string,
  found: readonly FoundCall[],
): Promise<Candidate[]> {
  const named = found.flatMap(({ call, trial }) => [...refsAmong(call.inputs.text), ...exampleRefs(trial)])
  const values = named.length === 0 ? new Map<string, JsonText>() : await refs.resolve(projectId, named)
  return found.map((one) => candidateOf(one, values))
}

function candidateOf({ call, trial }: FoundCall, values: ReadonlyMap<string, JsonText>): Candidate {
  const inputs = withValues(call.inputs.text, values)
  const asked = { inputs, output: call.output?.text ?? 'null' }
  if (trial === undefined) return { call, asked, payloads: asked, mayLookBelow: true }
  const { predict_call_id, model_output, scores } = trial.trial
  const example = exampleOf(trial, values)
  const withScores = { scores: new JsonText(scores.text) }
  if (predict_call_id === null) {
    const alone = { inputs: example, output: model_output?.text ?? 'null' }
    return { call, asked: alone, payloads: alone, mayLookBelow: false, ...withScores }
  }
  const own = { ...asked, inputs: unwrapped(inputs) }
  const payloads = { ...own, inputs: merged(example, own.inputs) }
  return { call, asked: own, payloads, mayLookBelow: true, ...withScores }
}

/** Wire: the inputs of a prediction logged over HTTP, or by a logger, are one level deeper. */
function unwrapped(inputs: string): string {
  const inner = memberText(inputs, 'inputs')
  return inner?.startsWith('{') ? inner : inputs
}

/** The example's columns as an object; an example that has none is one column. */
function exampleOf({ example }: ReadTrial, values: ReadonlyMap<string, JsonText>): string {
  if (example === null) return '{}'
  const value = (example.text.startsWith('"weave:') && values.get(String(example.value()))) || example
  return value.text.startsWith('{') ? value.text : `{"example":${value.text}}`
}

function exampleRefs(trial: ReadTrial | undefined): string[] {
  const ref: unknown = trial?.example?.text.startsWith('"weave:') ? trial.example.value() : undefined
  return typeof ref === 'string' && isRef(ref) ? [ref] : []
}
