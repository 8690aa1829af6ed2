import { JsonText, memberTexts, withMembers } from '../../../json/lossless-json.ts'
import { splitPath } from '../../query-language/json-path.ts'
import { isRef } from '../../ref-uri.ts'
import { PAYLOADS, type PayloadColumn } from '../sql/table.ts'

/**
 * Characters of values that one call is shown with, but for a single larger one: inputs may be a thousand times the
 * same ref of a large object.
 */
const VALUES_OF_CALL_CHARS_MAX = 16 * 1024 * 1024

export type Payloads = Record<PayloadColumn, JsonText | null>

/** Where refs are looked for in a payload, and below it. */
interface Place {
  isExpanded: boolean
  members: Map<string, Place>
}

/** Where refs are looked for in calls. */
export interface Places {
  ofPayloads: ReadonlyMap<PayloadColumn, Place>
  /** How many refs may be one behind the other. */
  levels: number
}

/** Of columns such as `inputs.model`; those that are in no payload are left out. */
export function placesOf(columns: readonly string[]): Places {
  const ofPayloads = new Map<PayloadColumn, Place>()
  let levels = 0
  for (const column of columns) {
    const [root, ...steps] = splitPath(column)
    const payload = PAYLOADS.find((candidate) => candidate === root)
    if (payload === undefined) continue
    let place = placeIn(ofPayloads, payload)
    for (const step of steps) place = placeIn(place.members, step)
    place.isExpanded = true
    levels = Math.max(levels, steps.length + 1)
  }
  return { ofPayloads, levels }
}

function placeIn<Name>(places: Map<Name, Place>, name: Name): Place {
  const known = places.get(name)
  if (known !== undefined) return known
  const made: Place = { isExpanded: false, members: new Map() }
  places.set(name, made)
  return made
}

/** Calls `onRef` for the refs at the places of a call, also for those behind refs whose values are known. */
export function visitRefs(
  row: Payloads,
  { ofPayloads }: Places,
  { values, onRef }: { values: ReadonlyMap<string, string>; onRef: (ref: string) => void },
): void {
  function visit(text: string, { isExpanded, members }: Place): void {
    const ref = isExpanded ? refIn(text) : undefined
    if (ref !== undefined) onRef(ref)
    const own = (ref !== undefined && values.get(ref)) || text
    for (const [place, member] of membersAt(own, members)) visit(member, place)
  }

  for (const [payload, place] of ofPayloads) {
    const text = row[payload]?.text
    if (text !== undefined) visit(text, place)
  }
}

/**
 * A call with the values of its refs, which are counted before they are put in. Wire: an unresolved ref stays; so do
 * those whose values no longer fit.
 */
export function withValuesAt<Row extends Payloads>(
  row: Row,
  { ofPayloads }: Places,
  values: ReadonlyMap<string, string>,
): Row {
  let chars = 0

  function fits(value: string): boolean {
    if (chars > 0 && chars + value.length > VALUES_OF_CALL_CHARS_MAX) return false
    chars += value.length
    return true
  }

  function expanded(text: string, { isExpanded, members }: Place): string {
    const ref = isExpanded ? refIn(text) : undefined
    const value = ref === undefined ? undefined : values.get(ref)
    const isReplaced = value !== undefined && fits(value)
    const own = isReplaced ? value : text
    const changed = new Map<string, string>()
    for (const [place, member, name] of membersAt(own, members)) {
      const its = expanded(member, place)
      if (its !== member) changed.set(name, its)
    }
    return changed.size === 0 ? own : withMembers(own, changed)
  }

  const changes: Partial<Payloads> = {}
  for (const [payload, place] of ofPayloads) {
    const text = row[payload]?.text
    const its = text === undefined ? undefined : expanded(text, place)
    if (its !== undefined && its !== text) changes[payload] = new JsonText(its)
  }
  return { ...row, ...changes }
}

/** The members of an object at which there are places. */
function membersAt(
  text: string,
  members: ReadonlyMap<string, Place>,
): [place: Place, member: string, name: string][] {
  if (members.size === 0) return []
  const texts = memberTexts(text, [...members.keys()])
  return [...members].flatMap(([name, place], index): [Place, string, string][] => {
    const member = texts[index]
    return member === undefined ? [] : [[place, member, name]]
  })
}

function refIn(text: string): string | undefined {
  if (!text.startsWith('"')) return undefined
  const value: unknown = JSON.parse(text)
  return typeof value === 'string' && isRef(value) ? value : undefined
}
