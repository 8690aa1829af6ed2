import { invalidRequest, tooLarge } from '../../../errors.ts'
import { type JsonText, memberText, withMember } from '../../../json/lossless-json.ts'
import { rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { forEachYielding } from '../../../yielding.ts'
import { inHalves } from '../../batches.ts'
import { fieldsIn } from '../../query-language/fields-in.ts'
import { splitPath } from '../../query-language/json-path.ts'
import type { Refs } from '../../refs/service.ts'
import type { ExpandedField } from '../sql/expanded-field.ts'
import type { Selection } from '../sql/selection.ts'
import { PAYLOADS } from '../sql/table.ts'
import { type Payloads, type Places, placesOf, visitRefs, withValuesAt } from './expanded-payload.ts'
import * as queries from './queries.ts'

/** Fields behind refs in one query: each costs a query of its own, and reads the values of its refs. */
const FIELDS_MAX = 10

/** Columns to expand: in each, a ref is looked for in every call of the list. More than a table shows. */
const COLUMNS_MAX = 100

/**
 * Characters of values behind refs that are in memory for the rows that are made next, but for some larger ones of a
 * single row.
 */
const VALUES_CHARS_MAX = 16 * 1024 * 1024

/** Different refs at one path that a filter or an order may resolve: their values are sent to the database. */
const REFS_MAX = 10_000

/** Characters of the values of these refs, for one field. */
const CHARS_MAX = 16 * 1024 * 1024

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
   * The rows with the values of their refs, each made when it is taken: thousands may have the same large value. Wire:
   * shallow refs first; an unresolved ref stays, and so do those of a call whose values have too many characters
   * together.
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

  /**
   * The values of the refs of rows; of a single row, only some where all have too many characters.
   * @throws 413 for too large ones of several
   */
  async function valuesOf<Row extends Payloads>(
    projectId: string,
    rows: readonly Row[],
    places: Places,
  ): Promise<Map<string, string>> {
    const values = new Map<string, string>()
    const asked = new Set<string>()
    let chars = 0
    for (let level = 0; level < places.levels; level++) {
      const wanted = new Set<string>()
      const onRef = (ref: string) => void (asked.has(ref) || wanted.add(ref))
      await forEachYielding(rows, (row) => visitRefs(row, places, { values, onRef }))
      if (wanted.size === 0) break
      for await (const found of inHalves([...wanted], (some) => refs.resolve(projectId, some))) {
        await forEachYielding(found, ([ref, value]) => {
          values.set(ref, withRef(value, ref))
          chars += value.text.length
        })
        if (chars <= VALUES_CHARS_MAX) continue
        if (rows.length === 1) return values
        throw tooLarge('The values behind the refs of these calls are too large to be in memory together')
      }
      for (const ref of wanted) asked.add(ref)
    }
    return values
  }

  async function* expanded<Row extends Payloads>(
    projectId: string,
    rows: readonly Row[],
    columns: readonly string[],
  ): AsyncGenerator<Row> {
    const places = placesOf(columns)
    const read = async (some: readonly Row[]) => ({ some, values: await valuesOf(projectId, some, places) })
    for await (const { some, values } of inHalves(rows, read))
      for (const row of some) yield withValuesAt(row, places, values)
  }

  return { expandedFields, expanded }
}

function shallowFirst(columns: readonly string[]): string[] {
  const ofPayloads = columns.filter((column) => PAYLOADS.some((payload) => payload === column.split('.')[0]))
  return [...new Set(ofPayloads)].sort((a, b) => a.split('.').length - b.split('.').length)
}

/** Wire: an object names the ref that it was read from. */
function withRef({ text }: JsonText, ref: string): string {
  const isObject = text.startsWith('{') && memberText(text, '_ref') === undefined
  return isObject ? withMember(text, '_ref', JSON.stringify(ref)) : text
}

/** As the database sees the leaf of a payload: a string's own text, the JSON of anything else. */
function leafText(value: JsonText | undefined): string | null {
  if (value === undefined || value.text === 'null') return null
  return value.text.startsWith('"') ? String(value.value()) : value.text
}
