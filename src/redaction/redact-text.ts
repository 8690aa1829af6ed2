import type { Span } from './builtin-patterns.ts'
import type { CompiledRules } from './rules.ts'
import type { Action } from './wire.ts'

/** What stands where something was masked. */
const MASK = '[redacted]'

/** Hexadecimal digits of a hash: as many as keep the values of a project apart. */
export const HASH_DIGITS = 32

/** What redaction leaves. It is not redacted again where it comes back, so that equal values keep equal hashes. */
const LEFT = new RegExp(String.raw`\[(?:redacted|hash:[0-9a-f]{${HASH_DIGITS}})\]`, 'y')
const LEFT_CHARS_MAX = '[hash:]'.length + HASH_DIGITS

/** Rules at work for one project. */
export interface Redacting {
  rules: CompiledRules
  /** The keyed hash of a text, hexadecimal. */
  hash: (text: string) => string
  /** How often each rule has found something, by its index. */
  hits: number[]
}

/** Parts of a text that are to be replaced by other texts, in order and apart. */
export type Replacement = Span & { by: string }

/** What stands for a text that a rule has found; of ASCII, and the same in JSON as outside. */
export function replacementOf(text: string, action: Action, { hash }: Pick<Redacting, 'hash'>): string {
  if (action === 'drop') return ''
  return action === 'mask' ? MASK : `[hash:${hash(text)}]`
}

/**
 * What the patterns replace in a text. All are looked for in the text as it came; what several find in one place is
 * replaced once, as the first of their rules says.
 */
export function replacementsIn(text: string, redacting: Redacting): Replacement[] {
  const { rules } = redacting
  const found: (Span & { rule: number })[] = []
  for (const { rule, find } of rules.patterns) {
    for (const span of find(text)) {
      if (isLeft(text, span)) continue
      countHit(redacting, rule)
      found.push({ ...span, rule })
    }
  }
  return united(found).map(({ start, end, rule }) => {
    const action = rules.actions[rule] ?? 'mask'
    return { start, end, by: replacementOf(text.slice(start, end), action, redacting) }
  })
}

/** Whether a part of a text lies within what redaction left. */
export function isLeft(text: string, { start, end }: Span): boolean {
  const from = Math.max(0, start - LEFT_CHARS_MAX)
  const opened = text.slice(from, start + 1).lastIndexOf('[')
  if (opened < 0) return false
  LEFT.lastIndex = from + opened
  return LEFT.test(text) && end <= LEFT.lastIndex
}

export function countHit({ hits }: Redacting, rule: number): void {
  hits[rule] = (hits[rule] ?? 0) + 1
}

function united(found: (Span & { rule: number })[]): (Span & { rule: number })[] {
  if (found.length < 2) return found
  const apart: (Span & { rule: number })[] = []
  for (const next of found.toSorted((one, other) => one.start - other.start)) {
    const last = apart.at(-1)
    if (last === undefined || next.start >= last.end) apart.push({ ...next })
    else {
      last.end = Math.max(last.end, next.end)
      last.rule = Math.min(last.rule, next.rule)
    }
  }
  return apart
}

/** A text with parts of it replaced; the text itself where there are none. */
export function replaced(text: string, replacements: readonly Replacement[]): string {
  if (replacements.length === 0) return text
  const parts: string[] = []
  let from = 0
  for (const { start, end, by } of replacements) {
    parts.push(text.slice(from, start), by)
    from = end
  }
  parts.push(text.slice(from))
  return parts.join('')
}
