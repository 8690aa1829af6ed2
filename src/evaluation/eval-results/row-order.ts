import { createCharsBudget } from '../../chars-budget.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { readRowBinary, wholeRows } from '../../stores/trace-db/row-binary.ts'
import type { Selection } from '../../trace/calls/sql/selection.ts'
import { splitPath } from '../../trace/query-language/json-path.ts'
import type { Refs } from '../../trace/refs/service.ts'
import * as queries from './queries.ts'
import type { RowOfTrials, TrialPosition } from './sorted-trials.ts'
import { trialErrors } from './trial-errors.ts'
import { pathInTrial } from './trial-fields.ts'
import type * as wire from './wire.ts'

/** Each is a query of its own. */
const SORTS_MAX = 10

/**
 * Characters of the values of all these fields, which are in memory together: many trials may have the ref of the same
 * large value.
 */
const VALUES_CHARS_MAX = 64 * 1024 * 1024
const VALUES_TOO_LARGE = `The values to sort by have more than ${VALUES_CHARS_MAX} characters together`

/** The field that sorts by whether trials have an error. */
const ERRORS = 'errors'

/** Orders rows by values of their trials; the payloads stay in the database. */
export interface RowOrder {
  /**
   * Rows in the order of the request; where that leaves them equal they stay as they were.
   * @throws 413 for too large values
   */
  sorted(rows: RowOfTrials[], selection: Selection, sorting: Sorting): Promise<RowOfTrials[]>
}

export function createRowOrder(deps: { traces: TraceDb; refs: Pick<Refs, 'resolve'> }): RowOrder {
  const { traces, refs } = deps

  /** The values of one field by trial, texts as the database shows leaves. */
  async function leaves(
    selection: Selection,
    rows: readonly RowOfTrials[],
    field: string,
    { addChars, context: { signal } }: { addChars: (chars: number) => void; context: CallContext },
  ): Promise<Map<string, string>> {
    const [root = '', ...steps] = splitPath(pathInTrial(field))
    const values = new Map<string, string>()
    const query = queries.selectLeaves(selection, root === 'inputs' ? 'inputs' : 'output', steps)
    for await (const piece of wholeRows(traces, query, signal)) {
      for (const row = readRowBinary(piece); !row.done(); ) {
        const id = row.text()
        const leaf = row.nullable(row.text)
        if (leaf === null) continue
        addChars(leaf.length)
        values.set(id, leaf)
      }
    }
    const behind = root === 'inputs' ? rows.filter(({ ref }) => ref !== undefined) : []
    const examples = behind.map(({ ref }) => ref ?? '')
    const found = await refs.resolve(selection.project_id, examples, steps.slice(1))
    for (const { ref, trials } of behind) {
      const text = found.get(ref ?? '')
      addChars(text?.text.length ?? 0)
      const value: unknown = text?.value()
      const leaf = typeof value === 'string' ? value : JSON.stringify(value)
      if (value != null && leaf !== undefined) for (const { id } of trials) values.set(id, leaf)
    }
    return values
  }

  /** Of every trial `true` or `false`: whether it has an error. */
  async function errorLeaves(
    rows: readonly RowOfTrials[],
    selection: Selection,
    known: ReadonlySet<string> | undefined,
    { signal }: CallContext,
  ): Promise<Map<string, string>> {
    const errors = known ?? (await trialErrors(traces, selection, signal))
    return new Map(rows.flatMap(({ trials }) => trials.map(({ id }) => [id, String(errors.has(id))])))
  }

  async function sorted(
    rows: RowOfTrials[],
    selection: Selection,
    { req, errors, context }: Sorting,
  ): Promise<RowOfTrials[]> {
    const sorts = req.sort_by ?? []
    if (sorts.length > SORTS_MAX) throw invalidRequest(`At most ${SORTS_MAX} fields to sort by`)
    const addChars = createCharsBudget(VALUES_CHARS_MAX, VALUES_TOO_LARGE)
    const orders: ((a: RowOfTrials, b: RowOfTrials) => number)[] = []
    for (const sort of sorts) {
      const values =
        sort.field === ERRORS
          ? await errorLeaves(rows, selection, errors, context)
          : await leaves(selection, rows, sort.field, { addChars, context })
      if (errors !== undefined && sort.field.startsWith('scores.')) failErrors(values, rows, errors)
      const keys = new Map(rows.map((row) => [row.digest, keyOf(row, sort, values)]))
      orders.push((a, b) => compareKeys(keys.get(a.digest), keys.get(b.digest), sort.direction))
    }
    return rows.toSorted((a, b) => {
      for (const order of orders) {
        const result = order(a, b)
        if (result !== 0) return result
      }
      return 0
    })
  }

  return { sorted }
}

interface Sorting {
  req: wire.EvalResultsReq
  /** The ids of trials with an error; absent where they do not count as failures. */
  errors: ReadonlySet<string> | undefined
  context: CallContext
}

/** Where a scorer says true or false and no numbers, a trial with an error and without a score is false. */
function failErrors(
  values: Map<string, string>,
  rows: readonly RowOfTrials[],
  errors: ReadonlySet<string>,
): void {
  const isTruth = (leaf: string) => leaf === 'true' || leaf === 'false'
  const isNumber = (leaf: string) => !isTruth(leaf) && !Number.isNaN(numberOf(leaf))
  if (!values.values().some(isTruth) || values.values().some(isNumber)) return
  for (const { trials } of rows)
    for (const { id } of trials) if (errors.has(id) && !values.has(id)) values.set(id, 'false')
}

type Key = number | string | undefined

/** The sort value of a row: the mean of its numbers, or its first text; or the mean of the evaluations' means. */
function keyOf({ trials }: RowOfTrials, sort: wire.Sort, values: ReadonlyMap<string, string>): Key {
  const keyIn = (group: readonly TrialPosition[]): Key =>
    combined(group.flatMap(({ id }) => values.get(id) ?? []))
  if (sort.mode === 'change') {
    const groups = Map.groupBy(trials, ({ root }) => root)
    const base = keyIn(groups.get(sort.evaluation_call_id ?? '') ?? [])
    groups.delete(sort.evaluation_call_id ?? '')
    if (typeof base !== 'number') return undefined
    const changes = [...groups.values()]
      .map(keyIn)
      .flatMap((mean) => (typeof mean === 'number' ? mean - base : []))
    if (changes.length === 0) return undefined
    return sort.direction === 'asc' ? Math.min(...changes) : Math.max(...changes)
  }
  if (sort.mode === 'difference') {
    const groups = [...Map.groupBy(trials, ({ root }) => root).values()]
    const means = groups.map(keyIn)
    const numbers = means.filter((mean) => typeof mean === 'number')
    return numbers.length === 0 ? undefined : Math.max(...numbers) - Math.min(...numbers)
  }
  const own = trials.filter(({ root }) => !sort.evaluation_call_id || root === sort.evaluation_call_id)
  return keyIn(own)
}

function combined(leaves: readonly string[]): Key {
  const numbers = leaves.map(numberOf)
  if (leaves.length === 0 || numbers.some(Number.isNaN)) return leaves[0]
  return numbers.reduce((sum, number) => sum + number) / numbers.length
}

function numberOf(leaf: string): number {
  if (leaf === 'true') return 1
  if (leaf === 'false') return 0
  return leaf.trim() === '' ? Number.NaN : Number(leaf)
}

/** Numbers before texts, and rows without a value last in either direction. */
function compareKeys(a: Key, b: Key, direction: 'asc' | 'desc'): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1
  const sign = direction === 'asc' ? 1 : -1
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b)
  if (typeof a === 'number') return -1
  if (typeof b === 'number') return 1
  return sign * (a < b ? -1 : a > b ? 1 : 0)
}
