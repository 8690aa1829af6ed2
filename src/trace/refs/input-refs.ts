import { JsonText, memberTexts, stringify } from '../../lossless-json.ts'
import { isRef } from '../ref-uri.ts'

/** The refs among a call's inputs, without the one of the method's object. */
export function refsAmong(inputs: string): string[] {
  if (!inputs.includes('"weave:///')) return []
  return Object.entries(membersOf(inputs)).flatMap(([name, member]) => {
    const value: unknown = name === SELF || !member.text.startsWith('"') ? undefined : member.value()
    return typeof value === 'string' && isRef(value) ? [value] : []
  })
}

/** Inputs with their refs resolved. */
export function withValues(inputs: string, values: ReadonlyMap<string, JsonText>): string {
  const named = new Set(refsAmong(inputs))
  if (named.size === 0) return inputs
  const members = Object.entries(membersOf(inputs)).map(([name, member]) => {
    const value: unknown = member.text.startsWith('"') ? member.value() : undefined
    return [name, (typeof value === 'string' && named.has(value) && values.get(value)) || member]
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
