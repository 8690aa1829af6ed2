import { invalidRequest, tooLarge } from '../../../errors.ts'
import { inTurns } from '../../../in-turns.ts'
import { JsonText, memberText, withMember } from '../../../lossless-json.ts'
import { rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { inBatches, type Size } from '../../batches.ts'
import { fieldsIn } from '../../query-language/fields-in.ts'
import { splitPath } from '../../query-language/json-path.ts'
import { isRef } from '../../ref-uri.ts'
import type { Refs } from '../../refs/service.ts'
import type { ExpandedField } from '../sql/expanded-field.ts'
import type { Selection } from '../sql/selection.ts'
import { PAYLOADS, type PayloadColumn } from '../sql/table.ts'
import * as queries from './queries.ts'

/** Fields behind refs in one query: each costs a query of its own, and reads the values of its refs. */
const FIELDS_MAX = 10

/** Columns to expand: in each, a ref is looked for in every call of the list. More than a table shows. */
const COLUMNS_MAX = 100

/** Characters of values that rows have in memory together, but for a single larger one. */
const PER_BATCH: Size = { bytes: 8 * 1024 * 1024, count: Number.POSITIVE_INFINITY }

/** Different refs at one path that a filter or an order may resolve: their values are sent to the database. */
const REFS_MAX = 10_000

/** Characters of the values of these refs, for one field. */
const CHARS_MAX = 16 * 1024 * 1024

type Payloads = Record<PayloadColumn, JsonText | null>

/**
 * Resolves refs inside calls, at the paths that a request names. The values behind the refs of the selected calls are
 * read first and travel to the database with the query: a join would read every value of the project.
 */
export interface Expansion {
  /**
   * Values of the fields behind refs in a query and an order, by path.
   * @throws 400 for too many fields or columns, 413 for too many refs or too large values
   */
  expandedFields(
    selection: Selection,
    sortFields: readonly string[],
    columns: readonly string[],
  ): Promise<Map<string, ExpandedField>>
  /**
   * The rows with the values of their refs, as many at a time as may be in memory: thousands may have the same large value.
   * Wire: shallow refs first; an unresolved ref stays.
   */
  expanded<Row extends Payloads>(
    projectId: string,
    rows: readonly Row[],
    columns: readonly string[],
  ): AsyncGenerator<Row>
}

export function createExpansion({
  traces,
  refs,
}: {
  traces: TraceDb
  refs: Pick<Refs, 'resolve'>
}): Expansion {
  async function expandedField(selection: Selection, column: string, path: string): Promise<ExpandedField> {
    const query = queries.selectRefs(selection, column, REFS_MAX + 1)
    const found = (await rowsOf(traces.query<{ ref: string }>(query))).map(({ ref }) => ref)
    if (found.length > REFS_MAX)
      throw tooLarge(
        `There are more than ${REFS_MAX} different refs at ${column}: select fewer calls by the filter`,
      )
    const values = await refs.resolve(selection.project_id, found, splitPath(path.slice(column.length + 1)))
    const texts = found.map((ref) => leafText(values.get(ref)))
    if (texts.reduce((chars, text) => chars + (text?.length ?? 0), 0) > CHARS_MAX)
      throw tooLarge(`The values behind the refs at ${column} are too large to filter or sort by`)
    return { column, refs: found, texts }
  }

  async function expandedFields(
    selection: Selection,
    sortFields: readonly string[],
    columns: readonly string[],
  ): Promise<Map<string, ExpandedField>> {
    if (columns.length > COLUMNS_MAX) throw invalidRequest(`At most ${COLUMNS_MAX} columns to expand`)
    const expanded = new Map<string, ExpandedField>()
    const paths = [...(selection.query == null ? [] : fieldsIn(selection.query)), ...sortFields]
    for (const path of new Set(paths)) {
      const column = shallowFirst(columns).find((candidate) => path.startsWith(`${candidate}.`))
      if (column === undefined) continue
      if (expanded.size === FIELDS_MAX)
        throw invalidRequest(`At most ${FIELDS_MAX} fields behind refs in one query`)
      expanded.set(path, await expandedField(selection, column, path))
    }
    return expanded
  }

  /** The texts of the values of refs, as calls show them. */
  async function valuesOf(projectId: string, found: readonly string[]): Promise<Map<string, string>> {
    const texts = new Map<string, string>()
    await inTurns(await refs.resolve(projectId, found), ([ref, value]) => texts.set(ref, withRef(value, ref)))
    return texts
  }

  /** The refs that rows have at a path in a payload. */
  async function refsAt<Row extends Payloads>(
    rows: readonly Row[],
    { payload, steps }: Place,
  ): Promise<Map<Row, string>> {
    const found = new Map<Row, string>()
    await inTurns(rows, (row) => {
      const ref = refAt(row[payload]?.text, steps)
      if (ref !== undefined) found.set(row, ref)
    })
    return found
  }

  async function* expandedAt<Row extends Payloads>(
    projectId: string,
    rows: readonly Row[],
    places: readonly Place[],
  ): AsyncGenerator<Row> {
    for (const [index, place] of places.entries()) {
      const found = await refsAt(rows, place)
      if (found.size === 0) continue
      const values = await valuesOf(projectId, [...found.values()])
      const valueIn = (row: Row): string | undefined => values.get(found.get(row) ?? '')
      const sizeOf = (row: Row): Size => ({ bytes: valueIn(row)?.length ?? 0, count: 1 })
      for (const some of inBatches(rows, PER_BATCH, sizeOf)) {
        const replacedRows: Row[] = []
        // The given rows stay as they are, so that those which were taken leave no values in memory.
        await inTurns(some, (row) => replacedRows.push(withValue(row, place, valueIn(row))))
        yield* expandedAt(projectId, replacedRows, places.slice(index + 1))
      }
      return
    }
    yield* rows
  }

  return {
    expandedFields,
    expanded: (projectId, rows, columns) => expandedAt(projectId, rows, placesOf(columns)),
  }
}

function shallowFirst(columns: readonly string[]): string[] {
  const ofPayloads = columns.filter((column) => PAYLOADS.some((payload) => payload === column.split('.')[0]))
  return [...new Set(ofPayloads)].sort((a, b) => a.split('.').length - b.split('.').length)
}

/** A path in a payload. */
interface Place {
  payload: PayloadColumn
  steps: readonly string[]
}

function placesOf(columns: readonly string[]): Place[] {
  return shallowFirst(columns).flatMap((column) => {
    const [root, ...steps] = splitPath(column)
    const payload = PAYLOADS.find((candidate) => candidate === root)
    return payload === undefined ? [] : [{ payload, steps }]
  })
}

function withValue<Row extends Payloads>(
  row: Row,
  { payload, steps }: Place,
  value: string | undefined,
): Row {
  if (value === undefined) return row
  return { ...row, [payload]: new JsonText(replaced(row[payload]?.text ?? '{}', steps, value)) }
}

function refAt(payload: string | undefined, steps: readonly string[]): string | undefined {
  let text = payload
  for (const step of steps) text = text === undefined ? undefined : memberText(text, step)
  if (!text?.startsWith('"')) return undefined
  const value: unknown = JSON.parse(text)
  return typeof value === 'string' && isRef(value) ? value : undefined
}

/** Wire: an object names the ref that it was read from. */
function withRef({ text }: JsonText, ref: string): string {
  const isObject = text.startsWith('{') && memberText(text, '_ref') === undefined
  return isObject ? withMember(text, '_ref', JSON.stringify(ref)) : text
}

function replaced(text: string, [step, ...rest]: readonly string[], value: string): string {
  if (step === undefined) return value
  return withMember(text, step, replaced(memberText(text, step) ?? '{}', rest, value))
}

/** As the database sees the leaf of a payload: a string's own text, the JSON of anything else. */
function leafText(value: JsonText | undefined): string | null {
  if (value === undefined || value.text === 'null') return null
  return value.text.startsWith('"') ? String(value.value()) : value.text
}
