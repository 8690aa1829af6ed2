import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { readRowBinary } from '../../stores/trace-db/row-binary.ts'
import type { Selection } from '../calls/selection.ts'
import type { Calls } from '../calls/service.ts'
import { splitPath } from '../query-language/json-path.ts'
import type { Operand, Query } from '../query-language/wire.ts'
import type { Refs } from '../refs/service.ts'
import type { PlacedRow } from './places.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** Each is a query of its own. */
const FILTERS_MAX = 20
const SORTS_MAX = 10

/** Wire: where in a trial the fields of a request lie. */
const ROOTS = { scores: 'output.scores', outputs: 'output.output', inputs: 'inputs.example' } as const

/** Filters and orders rows by what their trials say; the payloads stay in the database. */
export function createChoosing(deps: { traces: TraceDb; calls: Calls; refs: Pick<Refs, 'resolve'> }) {
  const { traces, calls, refs } = deps

  async function matching(
    selection: Selection,
    { query, evaluation_call_id }: wire.Filter,
    context: CallContext,
  ): Promise<Set<string>> {
    const filter = evaluation_call_id
      ? { ...selection.filter, parent_ids: [evaluation_call_id] }
      : selection.filter
    const req = { ...selection, filter, query: inTrials(query), expand_columns: [ROOTS.inputs] }
    return new Set(await rowsOf(await calls.ids(req, context)))
  }

  /** The values of one field by trial, texts as the database shows leaves. */
  async function leaves(
    selection: Selection,
    rows: readonly PlacedRow[],
    field: string,
    { signal }: CallContext,
  ): Promise<Map<string, string>> {
    const [root = '', ...steps] = splitPath(pathInTrial(field))
    const values = new Map<string, string>()
    const query = queries.selectLeaves(selection, root === 'inputs' ? 'inputs' : 'output', steps)
    for await (const piece of traces.rowBinary(query, signal)) {
      for (const row = readRowBinary(piece); !row.done(); ) {
        const id = row.text()
        const leaf = row.nullable(row.text)
        if (leaf !== null) values.set(id, leaf)
      }
    }
    const behind = root === 'inputs' ? rows.filter(({ ref }) => ref !== undefined) : []
    const examples = behind.map(({ ref }) => ref ?? '')
    const found = await refs.resolve(selection.project_id, examples, steps.slice(1))
    for (const { ref, trials } of behind) {
      const value: unknown = found.get(ref ?? '')?.value()
      const leaf = typeof value === 'string' ? value : JSON.stringify(value)
      if (value != null && leaf !== undefined) for (const { id } of trials) values.set(id, leaf)
    }
    return values
  }

  return {
    /** Rows of which a trial matches any filter, or for each filter one. */
    async filtered(
      rows: PlacedRow[],
      selection: Selection,
      { req, context }: { req: wire.EvalResultsReq; context: CallContext },
    ): Promise<PlacedRow[]> {
      const filters = req.filters ?? []
      if (filters.length === 0) return rows
      if (filters.length > FILTERS_MAX) throw invalidRequest(`At most ${FILTERS_MAX} filters`)
      const sets: Set<string>[] = []
      for (const filter of filters) sets.push(await matching(selection, filter, context))
      const has = (row: PlacedRow, ids: Set<string>): boolean => row.trials.some(({ id }) => ids.has(id))
      return req.filter_logic_operator === 'and'
        ? rows.filter((row) => sets.every((ids) => has(row, ids)))
        : rows.filter((row) => sets.some((ids) => has(row, ids)))
    },

    /** Rows in the order of the request; where that leaves them equal they stay as they were. */
    async sorted(
      rows: PlacedRow[],
      selection: Selection,
      { req, context }: { req: wire.EvalResultsReq; context: CallContext },
    ): Promise<PlacedRow[]> {
      const sorts = req.sort_by ?? []
      if (sorts.length > SORTS_MAX) throw invalidRequest(`At most ${SORTS_MAX} fields to sort by`)
      const orders: ((a: PlacedRow, b: PlacedRow) => number)[] = []
      for (const sort of sorts) {
        const values = await leaves(selection, rows, sort.field, context)
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
    },
  }
}

/** @throws 400 for a field that trials do not have. */
function pathInTrial(field: string): string {
  const [, root = '', rest = ''] = /^(scores|outputs|inputs)((?:\..*)?)$/s.exec(field) ?? []
  if (root !== 'scores' && root !== 'outputs' && root !== 'inputs')
    throw invalidRequest(`Field ${field.slice(0, 200)} must begin with scores., inputs. or outputs.`)
  return `${ROOTS[root]}${rest}`
}

/** A query about fields of trials as one about fields of calls. */
function inTrials({ $expr }: Query): Query {
  // Only names of fields change, so that the expression stays one.
  return { $expr: renamed($expr) as Query['$expr'] }
}

function renamed(operand: Operand): unknown {
  return JSON.parse(JSON.stringify(operand), (key, value: unknown) =>
    key === '$getField' && typeof value === 'string' ? pathInTrial(value) : value,
  )
}

type Key = number | string | undefined

/** What a row is sorted by: the mean of its numbers, or its first text; the spread of the means over its evaluations. */
function keyOf({ trials }: PlacedRow, sort: wire.Sort, values: ReadonlyMap<string, string>): Key {
  if (sort.mode === 'difference') {
    const groups = [...Map.groupBy(trials, ({ root }) => root).values()]
    const means = groups.map((group) => combined(group.flatMap(({ id }) => values.get(id) ?? [])))
    const numbers = means.filter((mean) => typeof mean === 'number')
    return numbers.length === 0 ? undefined : Math.max(...numbers) - Math.min(...numbers)
  }
  const own = trials.filter(({ root }) => !sort.evaluation_call_id || root === sort.evaluation_call_id)
  return combined(own.flatMap(({ id }) => values.get(id) ?? []))
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
