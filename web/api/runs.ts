import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { MetricsRes, RunItem, RunRes } from '../../src/tracking/runs/wire.ts'
import { askJson } from './client.ts'
import { pagesQuery } from './pages.ts'
import { type ProjectName, projectId } from './project.ts'
import { LIVE_MS } from './query-client.ts'

export type Run = z.output<typeof RunItem>
export type RunAlert = z.output<typeof RunRes>['alerts'][number]
type Metrics = z.output<typeof MetricsRes>

/** Points of one curve: more than a chart has columns of pixels. */
const SAMPLES = 2_000

/** As many keys as one request may name. */
const KEYS_MAX = 20

/** Of the keys in an address; servers refuse one of 16 KiB. */
const KEYS_CHARS_MAX = 8_000

/** Runs of a project (`wandb.init`), newest first. */
export function runsQuery(name: ProjectName) {
  const pages = pagesQuery<Run>({
    key: ['runs', projectId(name), 'list'],
    path: '/v1/preview/runs',
    query: { entity: name.entity, project: name.project },
    cursorOf: ({ id }) => id,
  })
  return { ...pages, refetchInterval: LIVE_MS }
}

function runPath({ entity, project }: ProjectName, run: string): string {
  return `/v1/preview/runs/${[entity, project, run].map(encodeURIComponent).join('/')}`
}

export function runQuery(name: ProjectName, run: string) {
  return queryOptions({
    queryKey: ['runs', projectId(name), run],
    queryFn: ({ signal }) => askJson<z.output<typeof RunRes>>(runPath(name, run), { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? LIVE_MS : false),
  })
}

/** Names of everything that a run has logged. */
export function runKeysQuery(name: ProjectName, run: string, { isLive }: { isLive: boolean }) {
  return queryOptions({
    queryKey: ['runs', projectId(name), run, 'keys'],
    queryFn: async ({ signal }) =>
      (await askJson<Metrics>(`${runPath(name, run)}/metrics`, { signal })).keys.toSorted(),
    refetchInterval: isLive ? LIVE_MS : false,
  })
}

/** Keys in groups that one request can ask for, in their order. */
export function requestGroups(keys: readonly string[]): string[][] {
  const groups: string[][] = []
  let chars = Infinity
  for (const key of keys) {
    const group = groups.at(-1)
    const keyChars = encodeURIComponent(key).length
    if (group === undefined || group.length === KEYS_MAX || chars + keyChars > KEYS_CHARS_MAX) {
      groups.push([key])
      chars = keyChars
    } else {
      group.push(key)
      chars += keyChars
    }
  }
  return groups
}

/** The curves of one group of metrics, whole, with as many points as can be seen. */
export function runSeriesQuery(
  name: ProjectName,
  run: string,
  { keys, isLive }: { keys: readonly string[]; isLive: boolean },
) {
  const search = new URLSearchParams([...keys.map((key) => ['key', key]), ['samples', String(SAMPLES)]])
  return queryOptions({
    queryKey: ['runs', projectId(name), run, 'series', ...keys],
    queryFn: async ({ signal }) =>
      (await askJson<Metrics>(`${runPath(name, run)}/metrics?${search}`, { signal })).data,
    refetchInterval: isLive ? LIVE_MS : false,
    // Another key in the group is no reason to empty the charts of the others.
    placeholderData: keepPreviousData,
  })
}
