import { NumberText, type Reply } from './exchange.ts'

/** One place where two replies differ; `place` is `status`, or the path of a field as in `body.calls[0].id`. */
export interface Difference {
  place: string
  reference: unknown
  heddle: unknown
  /** What both said, where they differ in the status. */
  bodies?: [reference: unknown, heddle: unknown]
}

/** Where clients' own JSON begins: below it, numbers are the same only when they are written the same. */
const PAYLOADS = new Set(['inputs', 'output', 'attributes', 'val', 'payload', 'vals'])

/** Sums of the same numbers in another order differ by this much of their size. */
const ROUNDING = 1e-9

/** Every field in which Heddle's reply is not the reference's. */
export function differencesOf(reference: Reply, heddle: Reply, since: Date): Difference[] {
  if (reference.status !== heddle.status)
    return [
      {
        place: 'status',
        reference: reference.status,
        heddle: heddle.status,
        bodies: [reference.body, heddle.body],
      },
    ]
  if (reference.status >= 400)
    return fieldDifferences('body', fieldsOf(reference.body), fieldsOf(heddle.body), false)
  const known = (body: unknown) => withoutMadeValues(body, since)
  return fieldDifferences('body', known(reference.body), known(heddle.body), false)
}

/** Texts of errors are each server's own; which fields they come in is not. */
function fieldsOf(errorBody: unknown): unknown {
  return isRecord(errorBody) ? Object.keys(errorBody).sort() : typeof errorBody
}

function fieldDifferences(
  place: string,
  reference: unknown,
  heddle: unknown,
  payload: boolean,
): Difference[] {
  if (reference instanceof NumberText && heddle instanceof NumberText)
    return isSameNumber(reference, heddle, payload) ? [] : [{ place, reference, heddle }]
  if (Array.isArray(reference) && Array.isArray(heddle))
    return listDifferences(place, reference, heddle, payload)
  if (isRecord(reference) && isRecord(heddle)) {
    const names = new Set([...Object.keys(reference), ...Object.keys(heddle)])
    return [...names].flatMap((name) =>
      fieldDifferences(`${place}.${name}`, reference[name], heddle[name], payload || PAYLOADS.has(name)),
    )
  }
  return reference === heddle ? [] : [{ place, reference, heddle }]
}

function listDifferences(
  place: string,
  reference: unknown[],
  heddle: unknown[],
  payload: boolean,
): Difference[] {
  const [theirs, ours] = [idsOf(reference), idsOf(heddle)]
  if (theirs !== undefined && ours !== undefined && theirs.join() !== ours.join())
    return [{ place, reference: reference.map(nameOf), heddle: heddle.map(nameOf) }]
  if (reference.length !== heddle.length) return [{ place, reference, heddle }]
  return reference.flatMap((item, index) =>
    fieldDifferences(`${place}[${index}]`, item, heddle[index], payload),
  )
}

/** The ids of a list's items, where all have one: that shows which are missing, or in another order. */
function idsOf(list: unknown[]): unknown[] | undefined {
  return list.every((item) => isRecord(item) && 'id' in item)
    ? list.map((item) => (item as Record<string, unknown>)['id']) // Checked the line before.
    : undefined
}

function nameOf(item: unknown): unknown {
  return isRecord(item) ? (item['op_name'] ?? item['id']) : item
}

function isSameNumber({ text: left }: NumberText, { text: right }: NumberText, exactly: boolean): boolean {
  if (left === right) return true
  const [a, b] = [Number(left), Number(right)]
  return !exactly && Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b))
}

const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/
const MADE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Ids and times that a server makes become marks; other times are all written alike. */
function withoutMadeValues(value: unknown, since: Date): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutMadeValues(item, since))
  if (isRecord(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, withoutMadeValues(field, since)]),
    )
  if (typeof value !== 'string') return value
  if (MADE_ID.test(value)) return '(an id that the server made)'
  const [, day, time, fraction = '', zone = 'Z'] = TIME.exec(value) ?? []
  if (day === undefined) return value
  const moment = new Date(`${day}T${time}${zone}`)
  if (moment >= since) return '(a time of this run)'
  return `${moment.toISOString().slice(0, 19)}.${fraction.slice(1).padEnd(6, '0')}Z`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  )
}
