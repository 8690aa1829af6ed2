import type { ReadTrial } from '../evaluation/eval-results/trials.ts'
import { JsonText, memberText } from '../json/lossless-json.ts'
import { inBatches, inHalves, type Size } from '../trace/batches.ts'
import type { Call } from '../trace/calls/messages/call-wire.ts'
import { isRef } from '../trace/ref-uri.ts'
import { refsAmong, withValues } from '../trace/refs/input-refs.ts'
import type { Refs } from '../trace/refs/service.ts'
import { forEachYielding } from '../yielding.ts'
import { type Candidate, merged } from './candidate.ts'

/** A call, and for a prediction what the evaluation says of it. */
export interface FoundCall {
  call: Call
  trial?: ReadTrial
}

/** Characters of a call's payloads. */
export function payloadChars({ inputs, output, attributes, summary }: Call): number {
  return [inputs, output, attributes, summary].reduce((sum, payload) => sum + (payload?.text.length ?? 0), 0)
}

/** Characters of values behind refs that candidates have in memory together, but for a single larger one. */
const PER_BATCH: Size = { bytes: 8 * 1024 * 1024, count: Number.POSITIVE_INFINITY }

/**
 * Calls with what the refs among their inputs lead to, as many at a time as may be in memory: all of them may have the
 * same large value.
 * @throws 413 for a call whose refs alone lead to too much
 */
export async function* candidatesOf(
  refs: Pick<Refs, 'resolve'>,
  projectId: string,
  found: readonly FoundCall[],
): AsyncGenerator<Candidate[]> {
  const named = new Map<FoundCall, string[]>()
  await forEachYielding(found, (one) => named.set(one, refsOf(one)))
  const resolved = async (some: readonly FoundCall[]) => {
    const all = some.flatMap((one) => named.get(one) ?? [])
    return { some, values: all.length === 0 ? NOTHING : await refs.resolve(projectId, all) }
  }
  for await (const { some, values } of inHalves(found, resolved)) {
    const sizeOf = (one: FoundCall): Size => ({
      bytes: (named.get(one) ?? []).reduce((sum, ref) => sum + (values.get(ref)?.text.length ?? 0), 0),
      count: 1,
    })
    for (const batch of inBatches(some, PER_BATCH, sizeOf)) {
      const candidates: Candidate[] = []
      await forEachYielding(batch, (one) => candidates.push(candidateOf(one, values)))
      yield candidates
    }
  }
}

const NOTHING: ReadonlyMap<string, JsonText> = new Map()

function refsOf({ call, trial }: FoundCall): string[] {
  return [...refsAmong(call.inputs.text), ...exampleRefs(trial)]
}

function candidateOf({ call, trial }: FoundCall, values: ReadonlyMap<string, JsonText>): Candidate {
  const inputs = withValues(call, values)
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
