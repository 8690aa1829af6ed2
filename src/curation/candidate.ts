import { JsonText, memberText, stringify } from '../lossless-json.ts'
import type { Call } from '../trace/calls/wire.ts'
import { splitPath } from '../trace/query-language/json-path.ts'
import { isRef } from '../trace/refs/ref-uri.ts'

/** A call that may become a row. */
export interface Candidate {
  call: Call
  /** What was asked and answered, as JSON; refs among the inputs are what they lead to. */
  asked: { inputs: string; output: string }
  /** Where it was asked: the calls below may tell more; those below a row of an evaluation are also its scorers'. */
  mayLookBelow: boolean
  /** What paths look into beside attributes and summary. */
  payloads: { inputs: string; output: string }
  /** What the scorers of an evaluation said, by name. */
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

/** The refs among a call's inputs; what it was called on is none of them. */
export function refsAmong(inputs: string): string[] {
  if (!inputs.includes('"weave:///')) return []
  return Object.entries(membersOf(inputs)).flatMap(([name, member]) => {
    const value: unknown = name === SELF || !member.text.startsWith('"') ? undefined : member.value()
    return typeof value === 'string' && isRef(value) ? [value] : []
  })
}

/** Inputs with what their refs lead to. */
export function withValues(inputs: string, values: ReadonlyMap<string, JsonText>): string {
  const named = new Set(refsAmong(inputs))
  if (named.size === 0) return inputs
  const members = Object.entries(membersOf(inputs)).map(([name, member]) => {
    const value: unknown = member.text.startsWith('"') ? member.value() : undefined
    return [name, (typeof value === 'string' && named.has(value) && values.get(value)) || member]
  })
  return stringify(Object.fromEntries(members))
}

/** Wire: what a method is called on, as the Python and the JavaScript client name it. */
const SELF = 'self'

/** The members of both objects; those of the second win. */
export function merged(first: string, second: string): string {
  return stringify({ ...membersOf(first), ...membersOf(second) })
}

function membersOf(object: string): Record<string, JsonText> {
  const names = Object.keys(Object(JSON.parse(object)))
  return Object.fromEntries(names.map((name) => [name, new JsonText(memberText(object, name) ?? 'null')]))
}
