import type { Action, Builtin, DocumentName, Rule } from '../../../api/redaction.ts'

/** A rule as it is edited: what it looks for is one text, whatever it is. */
export interface RuleDraft {
  /** Stays the same while the rule is edited and moved. */
  id: string
  name: string
  action: Action
  match: Rule['match']
  /**
   * Keys with commas between them (in quotes where they would be read otherwise), a path, a pattern, or the name of a
   * known pattern.
   */
  sought: string
}

export const ACTIONS: readonly { value: Action; label: string }[] = [
  { value: 'mask', label: 'Mask' },
  { value: 'hash', label: 'Hash' },
  { value: 'drop', label: 'Drop' },
]

export const BUILTINS: readonly { value: Builtin; label: string }[] = [
  { value: 'secret', label: 'Secrets and API keys' },
  { value: 'email', label: 'Mail addresses' },
  { value: 'payment_card', label: 'Payment cards' },
]

export const MATCHES: readonly { value: Rule['match']; label: string; example: string }[] = [
  { value: 'builtin', label: 'Known pattern', example: '' },
  { value: 'key', label: 'Members named', example: 'password, authorization' },
  { value: 'path', label: 'At the path', example: '$.inputs.messages[*].content' },
  { value: 'pattern', label: 'Texts like', example: String.raw`ORD-\d{6}` },
]

export const DOCUMENTS: readonly { value: DocumentName; label: string }[] = [
  { value: 'inputs', label: 'Inputs of a call' },
  { value: 'output', label: 'Output of a call' },
  { value: 'attributes', label: 'Attributes of a call' },
  { value: 'summary', label: 'Summary of a call' },
  { value: 'payload', label: 'Feedback' },
  { value: 'val', label: 'Object' },
  { value: 'row', label: 'Row of a table' },
  { value: 'file', label: 'File' },
]

let made = 0

/** A rule to begin with. @param taken names that other rules have */
export function newDraft(taken: readonly string[]): RuleDraft {
  const number = Array.from({ length: taken.length + 1 }, (_, index) => index + 1).find(
    (candidate) => !taken.includes(`rule-${candidate}`),
  )
  return { id: nextId(), name: `rule-${number}`, action: 'mask', match: 'builtin', sought: 'secret' }
}

export function draftOf(rule: Rule): RuleDraft {
  const { name, action, match } = rule
  return { id: nextId(), name, action, match, sought: soughtIn(rule) }
}

function nextId(): string {
  made += 1
  return String(made)
}

function soughtIn(rule: Rule): string {
  if (rule.match === 'key') return rule.keys.map(writtenKey).join(', ')
  if (rule.match === 'path') return rule.path
  return rule.match === 'builtin' ? rule.builtin : rule.pattern
}

/** A key as it is written among others. */
function writtenKey(key: string): string {
  const isPlain = key === key.trim() && !key.includes(',') && !key.startsWith('"')
  return isPlain ? key : JSON.stringify(key)
}

/** A text of JSON, or whatever stands before the next comma. */
const WRITTEN_KEYS = /\s*("(?:[^"\\]|\\.)*"(?=\s*(?:,|$))|[^,]*)\s*(?:,|$)/g

/** The keys of a text; one whose quotes hold no JSON is taken as it is. */
function keysIn(sought: string): string[] {
  return [...sought.matchAll(WRITTEN_KEYS)]
    .map(([, written = '']) => keyIn(written.trim()))
    .filter((key) => key !== '')
}

function keyIn(written: string): string {
  if (!written.startsWith('"')) return written
  try {
    return String(JSON.parse(written))
  } catch {
    return written
  }
}

/** The rule that a draft stands for; the server checks it. */
export function ruleOf({ name, action, match, sought }: RuleDraft): Rule {
  if (match === 'key') return { name, action, match, keys: keysIn(sought) }
  if (match === 'path') return { name, action, match, path: sought.trim() }
  if (match === 'pattern') return { name, action, match, pattern: sought }
  return { name, action, match, builtin: BUILTINS.find(({ value }) => value === sought)?.value ?? 'secret' }
}

/** A draft that looks for something else: what one kind looks for means nothing to another. */
export function withMatch(draft: RuleDraft, match: Rule['match']): RuleDraft {
  return { ...draft, match, sought: match === 'builtin' ? 'secret' : '' }
}

/** Whether a rule can be sent. */
export function isComplete({ name, match, sought }: RuleDraft): boolean {
  if (name === '') return false
  return match === 'key' ? keysIn(sought).length > 0 : sought.trim() !== ''
}

/** What a rule looks for, in words. */
export function soughtText({ match, sought }: RuleDraft): string {
  const { label } = MATCHES.find(({ value }) => value === match) ?? { label: '' }
  const what = match === 'builtin' ? BUILTINS.find(({ value }) => value === sought)?.label : sought
  return `${label}: ${what}`
}
