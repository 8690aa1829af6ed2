import { createCharsBudget } from '../../chars-budget.ts'
import { JsonText, memberTexts, stringify } from '../../json/lossless-json.ts'
import type { Call } from '../calls/messages/call-wire.ts'
import { isRef } from '../ref-uri.ts'

/** The refs among a call's inputs, without the one of the method's object. */
export function refsAmong(inputs: string): string[] {
  if (!inputs.includes('"weave:///')) return []
  return Object.entries(membersOf(inputs)).flatMap(([name, member]) => {
    const value: unknown = name === SELF || !member.text.startsWith('"') ? undefined : member.value()
    return typeof value === 'string' && isRef(value) ? [value] : []
  })
}

/**
 * Characters of values that refs among the inputs of one call are resolved to, but for a single larger one: it may name
 * one often.
 */
const VALUES_CHARS_MAX = 32 * 1024 * 1024

/**
 * The inputs of a call with their refs resolved.
 * @throws 413 that names the call, before values of too many characters are put in
 */
export function withValues(
  { id, inputs: { text: inputs } }: Pick<Call, 'id' | 'inputs'>,
  values: ReadonlyMap<string, JsonText>,
): string {
  const named = new Set(refsAmong(inputs))
  if (named.size === 0) return inputs
  const message = `The refs among the inputs of call ${id} lead to more than ${VALUES_CHARS_MAX} characters together`
  const addChars = createCharsBudget(VALUES_CHARS_MAX, message, { isOneAllowed: true })
  const members = Object.entries(membersOf(inputs)).map(([name, member]) => {
    const ref: unknown = member.text.startsWith('"') ? member.value() : undefined
    const value = typeof ref === 'string' && named.has(ref) ? values.get(ref) : undefined
    if (value === undefined) return [name, member]
    addChars(value.text.length)
    return [name, value]
  })
  return stringify(Object.fromEntries(members))
}

/** Wire: the object that a method is called on, as the Python and the JavaScript client name it. */
const SELF = 'self'

/** The members of an object's text, each as its own text. */
export function membersOf(object: string): Record<string, JsonText> {
  const names = Object.keys(Object(JSON.parse(object)))
  const texts = memberTexts(object, names)
  return Object.fromEntries(names.map((name, index) => [name, new JsonText(texts[index] ?? 'null')]))
}
