import { queryOptions } from '@tanstack/react-query'
import { type Call, streamCalls } from '../../api/calls.ts'
import { objectOf, valueAt } from '../../api/json.ts'
import type { Json } from '../../api/wire.ts'
import { preview } from '../../components/json-view/json-lines.ts'
import { FIELDS, STATUS_WORDS } from './conditions.ts'

/** The newest calls tell which paths and values there are. */
const SAMPLE_CALLS = 100
/** Deeper paths are better looked at one call at a time. */
const DEPTH_MAX = 5
const PATHS_MAX = 1500
const VALUES_MAX = 50
const VALUE_CHARS = 120

/** A path within calls: how many of the sample have it, and what one of them has there. */
export interface SamplePath {
  path: string
  count: number
  example: string
}

export interface Sample {
  paths: SamplePath[]
  calls: Call[]
}

/** What the newest calls of a project hold. */
export function sampleQuery(project: string) {
  return queryOptions({
    queryKey: ['calls', project, 'sample'],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Sample> => {
      const calls: Call[] = []
      const sort_by = [{ field: 'started_at', direction: 'desc' as const }]
      for await (const call of streamCalls(project, { limit: SAMPLE_CALLS, sort_by }, { signal }))
        calls.push(call)
      return { calls, paths: samplePaths(calls) }
    },
  })
}

function samplePaths(calls: readonly Call[]): SamplePath[] {
  const found = new Map<string, SamplePath>()
  for (const call of calls)
    for (const root of ['inputs', 'output', 'attributes', 'summary'] as const)
      addPaths(root, call[root], found)
  return [...found.values()].sort((a, b) => b.count - a.count || a.path.localeCompare(b.path))
}

function addPaths(root: string, value: Json, found: Map<string, SamplePath>): void {
  const stack: { path: string; value: Json | undefined; depth: number }[] = [{ path: root, value, depth: 0 }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const children = Object.entries(objectOf(next.value))
    if (next.depth > 0 && children.length === 0) count(next.path, next.value, found)
    if (next.depth === DEPTH_MAX) continue
    for (const [name, child] of children)
      stack.push({ path: `${next.path}.${name}`, value: child, depth: next.depth + 1 })
  }
}

function count(path: string, value: Json | undefined, found: Map<string, SamplePath>): void {
  const known = found.get(path)
  if (known !== undefined) known.count++
  else if (found.size < PATHS_MAX) found.set(path, { path, count: 1, example: preview(value ?? null, 40) })
}

/** Fields to choose from: those with a name, then paths. */
export function fieldSuggestions({ paths }: Sample): { value: string; hint: string }[] {
  const named = Object.keys(FIELDS).map((value) => ({ value, hint: '' }))
  return [...named, ...paths.map(({ path, example }) => ({ value: path, hint: example }))]
}

/** The values of a field among the newest calls, the most frequent first. */
export function valueSuggestions({ calls }: Sample, field: string): { value: string; hint: string }[] {
  const path = FIELDS[field]?.path ?? field
  const counts = new Map<string, number>()
  if (field === 'status') for (const word of STATUS_WORDS) counts.set(word, 0)
  for (const call of calls) {
    const value = valueAt(call, path)
    if (value == null || typeof value === 'object') continue
    const text = String(value).slice(0, VALUE_CHARS)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const byCount = [...counts].sort(([, a], [, b]) => b - a).slice(0, VALUES_MAX)
  return byCount.map(([value, times]) => ({ value, hint: times === 0 ? '' : String(times) }))
}
