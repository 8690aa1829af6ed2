import type { CallField } from '../../api/calls.ts'
import { type FieldValue, fieldSuggestions, valueSuggestions } from './call-fields.ts'
import { needsValue, operatorsFor } from './conditions.ts'
import { partsOf, quoted, type Term, termsIn } from './search-terms.ts'

/** What may be typed next. */
export interface Completion {
  label: string
  /** Stands at the end of the line: an example, a count. */
  hint: string
  /** All of the search with this in it. */
  typed: string
}

/** More are found by typing on. */
const OFFERED_MAX = 12

/** The server's answer so far. */
export interface Known {
  fields?: readonly CallField[] | undefined
  /** Of the field at the caret. */
  values?: readonly FieldValue[] | undefined
}

/** The field whose value is being written at the caret; undefined where none is. */
export function fieldAt(typed: string, caret: number): string | undefined {
  return partsOf(termAt(typed, caret).text)?.field
}

function termAt(typed: string, caret: number): Term {
  const term = termsIn(typed).find(({ from, to }) => from < caret && caret <= to)
  return term ?? { text: '', from: caret, to: caret }
}

/** What may stand where the caret is: fields, then operators and values of the field that is written there. */
export function completionsOf(typed: string, caret: number, known: Known = {}): Completion[] {
  const { text, from, to } = termAt(typed, caret)
  // A quote begins free text, which has no completions.
  if (text.startsWith('"')) return []
  const offers = partsOf(text) === undefined ? fieldsFor(text, known) : valuesFor(text, known)
  return offers
    .filter(({ inserted }) => inserted.trim() !== text)
    .slice(0, OFFERED_MAX)
    .map(({ inserted, hint }) => ({
      label: inserted.trim(),
      hint,
      typed: `${typed.slice(0, from)}${inserted}${typed.slice(to).trimStart()}`,
    }))
}

interface Offer {
  inserted: string
  hint: string
}

/** How fields are written that have a shorter name. */
const SHORT: Record<string, string> = { latency_ms: 'latency' }

function fieldsFor(text: string, { fields = [] }: Known): Offer[] {
  const [, minus = '', word = ''] = /^(-?)(.*)$/s.exec(text.toLowerCase()) ?? []
  const all = fieldSuggestions(fields).map(({ value, hint = '' }) => ({ name: SHORT[value] ?? value, hint }))
  // The search has no way to write some names, such as those with spaces; the form has.
  const names = all.filter(({ name }) => partsOf(`${name}:`) !== undefined)
  const found = names.filter(({ name }) => name.toLowerCase().includes(word))
  const first = found.filter(({ name }) => name.toLowerCase().startsWith(word))
  return [...new Set([...first, ...found])].map(({ name, hint }) => ({ inserted: `${minus}${name}:`, hint }))
}

const TIMES = ['>100ms', '>1s', '>10s', '<1s']

function valuesFor(text: string, { values: told = [] }: Known): Offer[] {
  const parts = partsOf(text)
  if (parts === undefined) return []
  const { minus, name, field, rest } = parts
  const offer = (value: string, hint: string): Offer => ({ inserted: `${minus}${name}:${value} `, hint })
  if (field === 'latency_ms')
    return TIMES.filter((time) => time.startsWith(rest)).map((time) => offer(time, ''))
  const [, sign = '', begun = ''] = /^([!=]*)"?(.*?)"?$/s.exec(rest) ?? []
  const values = valueSuggestions(field, told)
    .filter(({ value }) => value.toLowerCase().includes(begun.toLowerCase()))
    .map(({ value, hint = '' }) => offer(`${sign}${quoted(value)}`, hint))
  const operators = operatorsFor(field)
  const isContaining = operators.includes('contains') && /^[^\s"*<>=!]+$/.test(rest)
  return [
    ...values.slice(0, OFFERED_MAX - 2),
    ...(isContaining ? [offer(`*${rest}*`, 'contains')] : []),
    ...(rest === '' && operators.some((op) => !needsValue(op)) ? [offer('*', 'is there')] : []),
  ]
}
