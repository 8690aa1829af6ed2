import { parseRef, refLabel } from '../../api/weave-ref.ts'
import type { Json } from '../../api/wire.ts'

/** One line of a JSON value as it is shown: every line has the same height, however long its text. */
export interface JsonLine {
  /**
   * Where it is: keys and indexes from the root, as JSON; unique within the value, but for the lines of a long text.
   */
  id: string
  path: readonly (string | number)[]
  depth: number
  /** The last step of the path; undefined at the root and in the lines of a long text. */
  name: string | number | undefined
  value: Json | undefined
  kind: 'object' | 'array' | 'text' | 'longText' | 'textLine' | 'ref' | 'number' | 'word'
  isOpen: boolean
  /** What is shown of a scalar, of one line of a long text, or of a closed object. */
  text: string
}

/** A text up to here is shown in its line; a longer one, or one of several lines, is folded. */
export const TEXT_CHARS = 200
/** Lines of a long text are cut here, so that each fits its row. */
const LINE_CHARS = 110
/** Of one text; more would exhaust the memory of the browser, and the heights that it can scroll to. */
export const TEXT_LINES_MAX = 100_000
const PREVIEW_CHARS = 90
/** What lies deeper is only hinted at. */
const PREVIEW_DEPTH = 4

/** Of one container; more would exhaust the memory of the browser. */
export const CHILDREN_MAX = 10_000

/**
 * The lines of a value whose containers and long texts are open where `isOpen` says so, from the top. The value at
 * `hit` is listed although its container has too many.
 */
export function jsonLines(
  root: Json,
  isOpen: (id: string, depth: number) => boolean,
  hit: readonly (string | number)[] = [],
): JsonLine[] {
  const lines: JsonLine[] = []
  const stack: ({ value: Json; path: readonly (string | number)[] } | { line: JsonLine })[] = [
    { value: root, path: [] },
  ]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const line = 'line' in next ? next.line : lineOf(next.value, next.path, isOpen)
    lines.push(line)
    if (!line.isOpen || line.value === undefined) continue
    if (line.kind === 'longText') {
      for (const piece of textLines(line.value as string, line)) lines.push(piece)
      continue
    }
    const { path } = line
    const children = childrenOf(line.value)
    const rest = children.splice(CHILDREN_MAX)
    if (rest.length > 0) {
      const isAboveHit = idOf(hit.slice(0, path.length)) === line.id
      const found = isAboveHit ? rest.find(([name]) => name === hit[path.length]) : undefined
      if (found !== undefined) stack.push({ value: found[1], path: [...path, found[0]] })
      stack.push({ line: moreLine(line, rest.length) })
    }
    for (const [name, child] of children.toReversed()) stack.push({ value: child, path: [...path, name] })
  }
  return lines
}

function moreLine(parent: JsonLine, count: number): JsonLine {
  const text = `… ${count.toLocaleString('en')} more: a search finds what is in them, and a copy has all of them`
  return { ...parent, ...PIECE, id: `${parent.id}:more`, depth: parent.depth + 1, text }
}

/** What is no value of its own. */
const PIECE = { name: undefined, kind: 'textLine', isOpen: false } as const

/** The entries of an object or an array, in order; none of a scalar. */
export function childrenOf(value: Json): [string | number, Json][] {
  if (Array.isArray(value)) return value.map((child, index) => [index, child])
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) => (child === undefined ? [] : [[key, child]]))
}

export function idOf(path: readonly (string | number)[]): string {
  return JSON.stringify(path)
}

/** `inputs.messages.0.content`, as the query language writes it. Wire: a dot that is part of a name is written `\.`. */
export function pathText(path: readonly (string | number)[]): string {
  return path.map((step) => String(step).replaceAll('.', '\\.')).join('.')
}

function lineOf(
  value: Json,
  path: readonly (string | number)[],
  isOpen: (id: string, depth: number) => boolean,
): JsonLine {
  const id = idOf(path)
  const depth = path.length
  const kind = kindOf(value)
  const canOpen = kind === 'object' || kind === 'array' || kind === 'longText'
  const open = canOpen && isOpen(id, kind === 'longText' ? Number.POSITIVE_INFINITY : depth)
  return { id, path, depth, name: path.at(-1), value, kind, isOpen: open, text: textOf(value, kind, open) }
}

function kindOf(value: Json): JsonLine['kind'] {
  if (Array.isArray(value)) return 'array'
  if (value === null || typeof value === 'boolean') return 'word'
  if (typeof value === 'object') return 'object'
  if (typeof value === 'number' || typeof value === 'bigint') return 'number'
  if (parseRef(value) !== undefined) return 'ref'
  return value.length > TEXT_CHARS || value.includes('\n') ? 'longText' : 'text'
}

function textOf(value: Json, kind: JsonLine['kind'], isOpen: boolean): string {
  if (kind === 'array' || kind === 'object') return isOpen ? countOf(value) : preview(value)
  if (kind !== 'longText') return JSON.stringify(value)
  return isOpen ? '' : `${JSON.stringify((value as string).slice(0, TEXT_CHARS)).slice(0, -1)}…`
}

function countOf(value: Json): string {
  if (Array.isArray(value)) return `${value.length} ${value.length === 1 ? 'item' : 'items'}`
  const count = Object.keys(value as object).length
  return `${count} ${count === 1 ? 'key' : 'keys'}`
}

/** The beginning of a container on one line, without writing all of it. */
export function preview(value: Json, chars = PREVIEW_CHARS, depth = 0): string {
  if (typeof value === 'string') return value.slice(0, chars).replaceAll(/\s+/g, ' ')
  if (typeof value !== 'object' || value === null) return String(value)
  const isArray = Array.isArray(value)
  if (depth === PREVIEW_DEPTH) return isArray ? '[…]' : '{…}'
  let text = isArray ? '[' : '{'
  for (const [name, child] of firstChildren(value)) {
    if (text.length > 1) text += ', '
    if (!isArray) text += `${name}: `
    const ref = parseRef(child)
    text +=
      ref !== undefined
        ? refLabel(ref)
        : typeof child === 'string'
          ? JSON.stringify(child.slice(0, chars))
          : preview(child, Math.max(8, chars - text.length) / 2, depth + 1)
    if (text.length > chars) return `${text.slice(0, chars)}…`
  }
  return text + (isArray ? ']' : '}')
}

/** More children than any preview has room for are not even listed. */
const PREVIEW_CHILDREN = 24

function firstChildren(value: { [key: string]: Json | undefined } | Json[]): [string | number, Json][] {
  if (Array.isArray(value)) return value.slice(0, PREVIEW_CHILDREN).map((child, index) => [index, child])
  const found: [string, Json][] = []
  for (const key in value) {
    const child = value[key]
    if (child !== undefined) found.push([key, child])
    if (found.length === PREVIEW_CHILDREN) break
  }
  return found
}

function textLines(text: string, parent: JsonLine): JsonLine[] {
  const cut = text
    .split('\n', TEXT_LINES_MAX + 1)
    .flatMap((line) => (line.length <= LINE_CHARS ? [line] : piecesOf(line)))
  if (cut.length > TEXT_LINES_MAX)
    cut.splice(TEXT_LINES_MAX, cut.length, '… more: a copy has all of the text')
  return cut.map((piece, index) => ({
    ...parent,
    id: `${parent.id}:${index}`,
    ...PIECE,
    depth: parent.depth + 1,
    text: piece,
  }))
}

/** Cut between words where there are any. */
function piecesOf(line: string): string[] {
  return line.match(new RegExp(`.{1,${LINE_CHARS}}(?:\\s|$)|.{1,${LINE_CHARS}}`, 'gu')) ?? [line]
}
