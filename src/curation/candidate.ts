import { type JsonText, memberText, stringify } from '../json/lossless-json.ts'
import type { Call } from '../trace/calls/messages/call-wire.ts'
import { splitPath } from '../trace/query-language/json-path.ts'
import { membersOf } from '../trace/refs/input-refs.ts'

/** A call that may become a row. */
export interface Candidate {
  call: Call
  /** Input and output as JSON; refs among the inputs are resolved. */
  asked: { inputs: string; output: string }
  /** Whether the calls below may hold the conversation; those below a row of an evaluation are also its scorers'. */
  mayLookBelow: boolean
  /** What paths look into beside attributes and summary. */
  payloads: { inputs: string; output: string }
  /** Outputs of the scorers of an evaluation, by name. */
  scores?: JsonText
}

/** The JSON text at a path of a call; undefined where nothing is, or null. */
export function textAt({ call, payloads }: Candidate, path: string): string | undefined {
  const [root = '', ...steps] = splitPath(path)
  const texts: Record<string, string> = {
    ...payloads,
    attributes: call.attributes.text,
    summary: call.summary.text,
  }
  return below(texts[root] ?? 'null', steps)
}

/** The value at a path of a call; undefined where nothing is, or null. */
export function valueAt(candidate: Candidate, path: string): unknown {
  const text = textAt(candidate, path)
  return text === undefined ? undefined : JSON.parse(text)
}

/** The JSON text below another; undefined where nothing is, or null. */
export function below(value: string, steps: readonly string[]): string | undefined {
  let text: string | undefined = value
  for (const step of steps) {
    if (text === undefined) return undefined
    text = memberText(text, text.startsWith('[') && /^\d+$/.test(step) ? Number(step) : step)
  }
  return text === 'null' ? undefined : text
}

/** The members of both objects; the second wins. */
export function merged(first: string, second: string): string {
  return stringify({ ...membersOf(first), ...membersOf(second) })
}
