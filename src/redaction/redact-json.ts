import { JSON_DEPTH_MAX, tooDeep } from '../json/json-limits.ts'
import { endOfString, endOfValue, skipSpace } from '../json/lossless-json.ts'
import { BUILTIN_PATTERNS } from './builtin-patterns.ts'
import { beginsLikeJson, isJson, startOf } from './json-in-texts.ts'
import { type JsonPath, leadsTo } from './json-path.ts'
import {
  countHit,
  isLeft,
  type Redacting,
  type Replacement,
  replaced,
  replacementOf,
  replacementsIn,
} from './redact-text.ts'
import type { DocumentName } from './wire.ts'

/** JSON in a text in JSON and so on; clients nest once or twice, and each level more doubles the backslashes. */
const NESTED_MAX = 4

/**
 * A valid JSON text with what the rules find replaced; all other bytes, within texts too, are as they were.
 * @throws 400 for more than {@link JSON_DEPTH_MAX} levels, with those of JSON in texts.
 */
export function redactJson(json: string, redacting: Redacting, document: DocumentName | undefined): string {
  return redactNested(json, redacting, { document, nested: 0, depth: 0 })
}

/** A text with what the rules find replaced; JSON in it is redacted as JSON, and then as a text. */
export function redactText(text: string, redacting: Redacting, document: DocumentName | undefined): string {
  const redacted = redactJsonIn(text, redacting, { document, nested: 0, depth: 0 })
  return replaced(redacted, replacementsIn(redacted, redacting))
}

interface Origin {
  /** What paths begin with; undefined for JSON within a text, where no path leads. */
  document: DocumentName | undefined
  /** Texts around. */
  nested: number
  /** Levels around, in these texts too: each takes some of the stack. */
  depth: number
}

/**
 * Redacts a text that is a JSON object or array as a whole, and of one that only begins like JSON each line that is,
 * such as those of JSON lines; any other text is not changed.
 */
function redactJsonIn(text: string, redacting: Redacting, origin: Origin): string {
  if (origin.nested > NESTED_MAX || !beginsLikeJson(text)) return text
  if (isJson(text)) return redactNested(text, redacting, origin)
  if (!text.includes('\n')) return text
  return text
    .split('\n')
    .map((line) => (isJson(line) ? redactNested(line, redacting, origin) : line))
    .join('\n')
}

/** A path of which the first `done` steps lead here. */
type Position = JsonPath & { rule: number; done: number }

const NOWHERE: readonly Position[] = []

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const LETTER_N = 0x6e
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Digits of the shortest number of a payment card. */
const SHORTEST_CARD = 13

/** The one pass over a text. */
interface Walk {
  json: string
  redacting: Redacting
  nested: number
  depth: number
  /** What is replaced, in order. */
  edits: Replacement[]
}

function redactNested(json: string, redacting: Redacting, { document, nested, depth }: Origin): string {
  const walk: Walk = { json, redacting, nested, depth, edits: [] }
  const at = skipSpace(json, startOf(json))
  const paths = redacting.rules.paths.filter((path) => path.document === document)
  const whole = paths.find(({ steps }) => steps.length === 0)
  if (whole !== undefined) replaceValue(walk, at, whole.rule)
  else
    visit(
      walk,
      at,
      paths.map((path) => ({ ...path, done: 0 })),
    )
  return replaced(json, walk.edits)
}

/** Each function that visits something returns the position behind it. */
function visit(walk: Walk, at: number, positions: readonly Position[]): number {
  const first = walk.json.charCodeAt(at)
  if (first === QUOTE) return visitString(walk, at)
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return visitScalar(walk, at)
  if (++walk.depth > JSON_DEPTH_MAX) throw tooDeep()
  const start = skipSpace(walk.json, at + 1)
  const end =
    first === OPEN_OBJECT ? visitMembers(walk, start, positions) : visitElements(walk, start, positions)
  walk.depth--
  return end
}

function visitMembers(walk: Walk, start: number, positions: readonly Position[]): number {
  const { json, edits } = walk
  let at = start
  let keptEnd: number | undefined
  let dropped: { start: number; end: number } | undefined
  while (json.charCodeAt(at) !== CLOSE_OBJECT) {
    const nameEnd = endOfString(json, at)
    const name = textAt(json, at, nameEnd)
    const valueAt = skipSpace(json, skipSpace(json, nameEnd) + 1)
    const { below, rule } = enter(positions, name, ruleOfKey(walk, name))
    let end: number
    if (isDropped(walk, valueAt, rule)) {
      end = endOfValue(json, valueAt)
      dropped = { start: dropped?.start ?? at, end }
    } else {
      if (dropped !== undefined) edits.push({ start: dropped.start, end: at, by: '' })
      dropped = undefined
      end = rule === undefined ? visit(walk, valueAt, below) : replaceValue(walk, valueAt, rule)
      keptEnd = end
    }
    at = nextPart(json, end)
  }
  // The comma before what was last goes with it.
  if (dropped !== undefined) edits.push({ ...dropped, start: keptEnd ?? dropped.start, by: '' })
  return at + 1
}

function visitElements(walk: Walk, start: number, positions: readonly Position[]): number {
  const { json } = walk
  let at = start
  for (let index = 0; json.charCodeAt(at) !== CLOSE_ARRAY; index++) {
    const { below, rule } = enter(positions, index, undefined)
    at = nextPart(json, rule === undefined ? visit(walk, at, below) : replaceValue(walk, at, rule))
  }
  return at + 1
}

function visitString(walk: Walk, at: number): number {
  const { json, edits, redacting } = walk
  const end = endOfString(json, at)
  const text = textAt(json, at, end)
  const redacted = redactJsonIn(text, redacting, {
    document: undefined,
    nested: walk.nested + 1,
    depth: walk.depth,
  })
  const replacements = replacementsIn(redacted, redacting)
  if (redacted !== text) {
    edits.push({ start: at, end, by: JSON.stringify(replaced(redacted, replacements)) })
  } else if (replacements.length > 0) {
    const hasEscapes = end - at > text.length + 2
    const placeOf = hasEscapes ? placesIn(json, at + 1) : (index: number) => at + 1 + index
    for (const { start, end: to, by } of replacements)
      edits.push({ start: placeOf(start), end: placeOf(to), by })
  }
  return end
}

function visitScalar(walk: Walk, at: number): number {
  const { json, redacting } = walk
  const end = endOfValue(json, at)
  const { cards } = redacting.rules
  if (cards === undefined || end - at < SHORTEST_CARD) return end
  const isCard = BUILTIN_PATTERNS.payment_card(json.slice(at, end)).length > 0
  return isCard ? replaceValue(walk, at, cards) : end
}

/** Null hides nothing. An element that is dropped leaves null, so that the others keep their places. */
function replaceValue(walk: Walk, at: number, rule: number): number {
  const { json, redacting } = walk
  const end = endOfValue(json, at)
  if (isNull(json, at)) return end
  const action = redacting.rules.actions[rule] ?? 'mask'
  const value = json.charCodeAt(at) === QUOTE ? textAt(json, at, end) : json.slice(at, end)
  if (isLeft(value, { start: 0, end: value.length })) return end
  const by = action === 'drop' ? 'null' : JSON.stringify(replacementOf(value, action, redacting))
  walk.edits.push({ start: at, end, by })
  countHit(redacting, rule)
  return end
}

function isDropped({ json, redacting }: Walk, valueAt: number, rule: number | undefined): boolean {
  if (rule === undefined || redacting.rules.actions[rule] !== 'drop' || isNull(json, valueAt)) return false
  countHit(redacting, rule)
  return true
}

/** The first rule that finds this part, and the paths that lead on from it. */
function enter(positions: readonly Position[], key: string | number, byKey: number | undefined) {
  if (positions.length === 0) return { below: NOWHERE, rule: byKey }
  const below: Position[] = []
  let rule = byKey
  for (const position of positions) {
    if (!leadsTo(position.steps[position.done], key)) continue
    if (position.done + 1 < position.steps.length) below.push({ ...position, done: position.done + 1 })
    else rule = Math.min(rule ?? position.rule, position.rule)
  }
  return { below, rule }
}

/** Wire: attributes of OpenTelemetry have names with dots, of which the last part is the key. */
function ruleOfKey({ redacting: { rules } }: Walk, name: string): number | undefined {
  if (rules.keys.size === 0) return undefined
  const lower = name.toLowerCase()
  return rules.keys.get(lower) ?? rules.keys.get(lower.slice(lower.lastIndexOf('.') + 1))
}

function nextPart(json: string, end: number): number {
  const at = skipSpace(json, end)
  return json.charCodeAt(at) === COMMA ? skipSpace(json, at + 1) : at
}

/** The text of a string token. */
function textAt(json: string, at: number, end: number): string {
  const text = json.slice(at + 1, end - 1)
  return text.includes('\\') ? (JSON.parse(json.slice(at, end)) as string) : text
}

function isNull(json: string, at: number): boolean {
  return json.charCodeAt(at) === LETTER_N
}

/**
 * Where the characters of a text stand in the JSON string whose content begins at `from`. Places are asked for in
 * order, and one is behind the whole escape before it.
 */
function placesIn(json: string, from: number): (index: number) => number {
  let place = from
  let passed = 0
  return (index) => {
    for (; passed < index; passed++) {
      if (json[place] !== '\\') place++
      else place += json[place + 1] === 'u' ? 6 : 2
    }
    return place
  }
}
