import { queryOptions } from '@tanstack/react-query'
import { type CallField, type CallFieldsRes, callFields } from '../../api/calls.ts'
import { DECLARED_KINDS, kindNamed } from '../../api/op-kinds.ts'
import type { Suggestion } from '../../components/combobox.tsx'
import { FIELDS, fieldPath, STATUS_WORDS } from './conditions.ts'

/** The server finds them in some tenths of a second, so new calls may show soon. */
const FRESH_MS = 10_000

/** The most that the server tells at once; more are found by their whole path. */
const FIELDS_MAX = 2000
const VALUES_MAX = 50

export type FieldValue = CallField['values'][number]

/** The fields of a project's calls, the most frequent first. */
export function fieldsQuery(project: string) {
  return queryOptions({
    queryKey: ['calls', project, 'fields'],
    staleTime: FRESH_MS,
    queryFn: ({ signal }): Promise<CallFieldsRes> =>
      callFields(project, { limit: FIELDS_MAX, values: 0 }, { signal }),
  })
}

/** The values of one field, the most frequent first. */
export function valuesQuery(project: string, field: string) {
  const path = fieldPath(field)
  return queryOptions({
    queryKey: ['calls', project, 'values', path],
    staleTime: FRESH_MS,
    queryFn: async ({ signal }): Promise<FieldValue[]> => {
      const request = { prefix: path, limit: FIELDS_MAX, values: VALUES_MAX }
      const { fields } = await callFields(project, request, { signal })
      return fields.find((found) => found.path === path)?.values ?? []
    },
  })
}

const NAMED = new Set(Object.values(FIELDS).map(({ path }) => path))

/** Fields to choose from: those with a name, then paths. */
export function fieldSuggestions(fields: readonly CallField[]): Suggestion[] {
  const named = Object.keys(FIELDS).map((value) => ({ value, hint: '' }))
  const others = fields.filter(({ path }) => !NAMED.has(path))
  return [...named, ...others.map(({ path, example }) => ({ value: path, hint: example ?? '' }))]
}

/** Fields within payloads, of which columns are made. */
export function pathsIn(fields: readonly CallField[]): CallField[] {
  return fields.filter(({ path }) => path.includes('.') && !path.startsWith('summary.weave.'))
}

/** The values of fields that have few, whether calls have them or not. */
const CHOICES = new Map<string, readonly string[]>([
  ['status', STATUS_WORDS],
  ['kind', DECLARED_KINDS],
])

/** Values to choose from, the most frequent first, with how many calls have them. */
export function valueSuggestions(field: string, values: readonly FieldValue[]): Suggestion[] {
  const counts = new Map<string, number>()
  for (const word of CHOICES.get(field) ?? []) counts.set(word, 0)
  for (const { value, count } of values) {
    const text = field === 'kind' ? (kindNamed(String(value)) ?? String(value)) : String(value)
    counts.set(text, (counts.get(text) ?? 0) + count)
  }
  const byCount = [...counts].sort(([, a], [, b]) => b - a)
  return byCount.map(([value, count]) => ({ value, hint: count === 0 ? '' : count.toLocaleString('en') }))
}
