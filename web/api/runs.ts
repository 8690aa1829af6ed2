import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { MetricsRes, RunItem, RunRes } from '../../src/tracking/runs/wire.ts'
import { askJson } from './client.ts'
import { pagesQuery } from './pages.ts'
import { type ProjectName, projectId } from './project.ts'
import { LIVE_MS } from './query-client.ts'

export type Run = z.output<typeof RunItem>
export type RunAlert = z.output<typeof RunRes>['alerts'][number]
type Metrics = z.output<typeof MetricsRes>

/** Points of one curve: as many as one request gives. */
const POINTS_MAX = 10_000

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

/** The points of one metric, in order. */
export function runSeriesQuery(
  name: ProjectName,
  run: string,
  { key, isLive }: { key: string; isLive: boolean },
) {
  const search = new URLSearchParams({ keys: key, limit: String(POINTS_MAX) })
  return queryOptions({
    queryKey: ['runs', projectId(name), run, 'series', key],
    queryFn: async ({ signal }) =>
      (await askJson<Metrics>(`${runPath(name, run)}/metrics?${search}`, { signal })).data[0] ?? null,
    refetchInterval: isLive ? LIVE_MS : false,
  })
}
