import { RE2JS } from 're2js'
import { invalidRequest, messageOf } from '../errors.ts'
import { BUILTIN_PATTERNS, type Find, type Span } from './builtin-patterns.ts'
import { type JsonPath, parsePath } from './json-path.ts'
import type { Action, Rule } from './wire.ts'

/**
 * Instructions of a compiled pattern: a search may take some 20 ns for each of them and each character. `\p{L}{1,30}`
 * has 60.
 */
const PROGRAM_SIZE_MAX = 500

/**
 * Rules in the form in which they are applied. A rule is named by its index: of several that fit, the first one counts.
 */
export interface CompiledRules {
  actions: readonly Action[]
  /** By key, in lower case. */
  keys: ReadonlyMap<string, number>
  paths: readonly (JsonPath & { rule: number })[]
  patterns: readonly { rule: number; find: Find }[]
  /** The rule for payment cards, which are numbers too. */
  cards: number | undefined
}

/** @throws 400 that names the rule for two of one name, and for a path or a pattern that is none. */
export function compileRules(rules: readonly Rule[]): CompiledRules {
  const keys = new Map<string, number>()
  const paths: (JsonPath & { rule: number })[] = []
  const patterns: { rule: number; find: Find }[] = []
  const names = new Set<string>()
  for (const [index, rule] of rules.entries()) {
    if (names.has(rule.name)) throw invalidRequest(`Two rules have the name ${rule.name}`)
    names.add(rule.name)
    try {
      if (rule.match === 'path') paths.push({ ...parsePath(rule.path), rule: index })
      else if (rule.match === 'pattern') patterns.push({ rule: index, find: finderOf(rule.pattern) })
      else if (rule.match === 'builtin') patterns.push({ rule: index, find: BUILTIN_PATTERNS[rule.builtin] })
      else addKeys(keys, rule.keys, index)
    } catch (error) {
      throw invalidRequest(`Rule ${rule.name}: ${messageOf(error)}`)
    }
  }
  const cards = rules.findIndex((rule) => rule.match === 'builtin' && rule.builtin === 'payment_card')
  return {
    actions: rules.map(({ action }) => action),
    keys,
    paths,
    patterns,
    cards: cards < 0 ? undefined : cards,
  }
}

function addKeys(keys: Map<string, number>, added: readonly string[], rule: number): void {
  for (const key of added) {
    const lower = key.toLowerCase()
    if (!keys.has(lower)) keys.set(lower, rule)
  }
}

/**
 * A user's pattern, in the syntax of RE2. One search takes time in proportion to the text, whatever the pattern; all
 * searches of a text may not, where each goes far and finds little.
 */
function finderOf(pattern: string): Find {
  const expression = RE2JS.compile(pattern)
  if (expression.programSize() > PROGRAM_SIZE_MAX) throw invalidRequest('the pattern is too large')
  if (expression.matcher('').find()) throw invalidRequest('the pattern matches the empty text')
  return (text) => {
    const spans: Span[] = []
    const matcher = expression.matcher(text)
    while (matcher.find()) {
      // Such as of \b, which matches nothing in the empty text.
      if (matcher.end() > matcher.start()) spans.push({ start: matcher.start(), end: matcher.end() })
    }
    return spans
  }
}
