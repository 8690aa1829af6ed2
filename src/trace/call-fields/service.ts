import type { CallContext } from '../../http/caller.ts'
import { firstOf, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** Characters of an example: one line of a menu. */
const EXAMPLE_CHARS = 120

/** The fields of the calls of a project, and their values. */
export interface CallFields {
  /** @throws 4xx for a query of fields that there are not */
  fields(req: wire.CallFieldsReq, context: CallContext): Promise<wire.CallFieldsRes>
}

export function createCallFields({ traces }: { traces: TraceDb }): CallFields {
  return {
    async fields(req, { signal }) {
      const { project_id, prefix, limit, values } = req
      const sample = await firstOf(traces.query<queries.SampleRow>(queries.selectSample(req, prefix), signal))
      if (sample === undefined) throw new Error(`The sample of ${project_id} has no row`)
      // One more than requested shows whether there are more.
      const query = queries.selectFields(req, sample, { prefix, values, limit: limit + 1 })
      const rows = await rowsOf(traces.query<queries.FieldRow>(query, signal))
      return {
        fields: rows.slice(0, limit).map(fieldOf),
        has_more: rows.length > limit,
        sampled_calls: sample.sampled,
        total_calls: sample.total,
        is_sample: sample.sampled < sample.total,
      }
    },
  }
}

function fieldOf({ path, count, initials, example, frequent }: queries.FieldRow): wire.CallField {
  return {
    path,
    count,
    types: [...new Set(initials.map(typeOf))].sort(),
    example: example === '' ? null : exampleOf(example),
    values: frequent
      .map(({ item, count: most, error }) => ({ value: scalarOf(item), count: most - error }))
      .sort((a, b) => b.count - a.count),
  }
}

/** The type of a JSON value by its first character. */
function typeOf(initial: string): wire.CallField['types'][number] {
  if (initial === '"') return 'string'
  if (initial === '[') return 'list'
  if (initial === '{') return 'object'
  return initial === 't' || initial === 'f' ? 'boolean' : 'number'
}

function exampleOf(json: string): string {
  const text = json.startsWith('"') ? String(JSON.parse(json)) : json
  return text.length <= EXAMPLE_CHARS ? text : `${text.slice(0, EXAMPLE_CHARS).toWellFormed()}…`
}

/** A number that JavaScript would round stays the text that it is. */
function scalarOf(json: string): string | number | boolean {
  const value: unknown = JSON.parse(json)
  if (typeof value === 'string' || typeof value === 'boolean') return value
  return typeof value === 'number' && String(value) === json ? value : json
}
