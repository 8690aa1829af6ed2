import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { CheckpointRes, Checkpoint as CheckpointSchema } from '../../src/training/checkpoints/wire.ts'
import type { JobEvent as JobEventSchema, JobRes } from '../../src/training/jobs/wire.ts'
import type { ModelRes } from '../../src/training/models/wire.ts'
import { ask, askJson } from './client.ts'
import { type ProjectName, projectId } from './project.ts'
import { LIVE_MS } from './query-client.ts'

export type Model = z.output<typeof ModelRes>
export type Checkpoint = z.output<typeof CheckpointSchema>
export type CheckpointDetails = z.output<typeof CheckpointRes>
export type Job = JobRes
export type JobEvent = z.output<typeof JobEventSchema>

interface ListPage<Item> {
  data: Item[]
  has_more: boolean
  last_id: string
}

/** As much as the API gives at once. */
const PAGE = 100

/** Pages that one list is read for: more models or steps than a page can show. */
const PAGES_MAX = 50

/** A training job is polled more often than other data. */
const TRAINING_LIVE_MS = 1_500

async function readAll<Item extends { id: string }>(
  path: string,
  { signal, after = '' }: { signal: AbortSignal; after?: string },
): Promise<Item[]> {
  const all: Item[] = []
  const mark = path.includes('?') ? '&' : '?'
  for (let page = 0; page < PAGES_MAX; page++) {
    const cursor = all.at(-1)?.id ?? after
    const end = cursor === '' ? '' : `&after=${encodeURIComponent(cursor)}`
    const { data, has_more } = await askJson<ListPage<Item>>(`${path}${mark}limit=${PAGE}${end}`, { signal })
    all.push(...data)
    if (!has_more || data.length === 0) break
  }
  return all
}

/** Models of a project, newest first. */
export function modelsQuery(name: ProjectName) {
  const { entity, project } = name
  const search = new URLSearchParams({ entity, project })
  return queryOptions({
    queryKey: ['models', projectId(name)],
    queryFn: ({ signal }) => readAll<Model>(`/v1/preview/models?${search}`, { signal }),
    refetchInterval: LIVE_MS,
  })
}

export async function deleteModel(id: string): Promise<{ deleted_checkpoints: number }> {
  return await askJson(`/v1/preview/models/${id}`, { method: 'DELETE' })
}

/** Steps of a model, oldest first. */
export function checkpointsQuery(modelId: string, { isLive = true } = {}) {
  return queryOptions({
    queryKey: ['checkpoints', modelId],
    queryFn: ({ signal }) => readAll<Checkpoint>(`/v1/preview/models/${modelId}/checkpoints`, { signal }),
    refetchInterval: isLive ? TRAINING_LIVE_MS : LIVE_MS,
  })
}

/** One step with its files. */
export function checkpointQuery(modelId: string, step: number) {
  return queryOptions({
    queryKey: ['checkpoints', modelId, step],
    queryFn: ({ signal }) =>
      askJson<CheckpointDetails>(`/v1/preview/models/${modelId}/checkpoints/${step}`, { signal }),
  })
}

export async function deleteCheckpoint(modelId: string, step: number): Promise<void> {
  await ask(`/v1/preview/models/${modelId}/checkpoints`, { method: 'DELETE', body: { steps: [step] } })
}

export async function changeTag(
  modelId: string,
  { step, tag, to }: { step: number; tag: string; to: 'on' | 'off' },
): Promise<void> {
  const path = `/v1/preview/models/${modelId}/checkpoints/${step}/tags/${encodeURIComponent(tag)}`
  await ask(path, { method: to === 'on' ? 'PUT' : 'DELETE' })
}

/** The bytes of one file of a step. */
export async function readCheckpointFile(modelId: string, step: number, file: string): Promise<Blob> {
  const path = `/v1/preview/models/${modelId}/checkpoints/${step}/files/${encodeURIComponent(file)}`
  return await (await ask(path)).blob()
}

export const isOpen = ({ state }: Pick<Job, 'state'>): boolean => state === 'queued' || state === 'running'

/** Jobs of a model, newest first; asked again soon while one of them is open. */
export function jobsQuery(modelId: string) {
  return queryOptions({
    queryKey: ['jobs', modelId],
    queryFn: ({ signal }) => readAll<Job>(`/v1/preview/training-jobs?model_id=${modelId}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) ? TRAINING_LIVE_MS : LIVE_MS),
  })
}

/** Jobs of all models that have not ended. */
export const openJobsQuery = queryOptions({
  queryKey: ['jobs', 'open'],
  queryFn: async ({ signal }) => {
    const states = ['running', 'queued'] as const
    const lists = states.map((state) => readAll<Job>(`/v1/preview/training-jobs?state=${state}`, { signal }))
    return (await Promise.all(lists)).flat()
  },
  refetchInterval: TRAINING_LIVE_MS,
})

export function jobQuery(id: string) {
  return queryOptions({
    queryKey: ['jobs', 'one', id],
    queryFn: ({ signal }) => askJson<Job>(`/v1/preview/training-jobs/${id}`, { signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isOpen(state.data) ? TRAINING_LIVE_MS : false,
  })
}

/** Whether the event with which a job ends is among its events. */
export function haveEnded(events: readonly JobEvent[]): boolean {
  return events.some(({ type }) => type === 'training_ended' || type === 'training_failed')
}

/**
 * Events of a job, oldest first. An open job is polled for new ones, and one that has ended until its last event is
 * there, since job and events are read one after the other.
 */
export function eventsQuery(id: string, { isLive }: { isLive: boolean }) {
  const queryKey = ['jobs', 'events', id]
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client }) => {
      const known = client.getQueryData<JobEvent[]>(queryKey) ?? []
      const after = known.at(-1)?.id ?? ''
      const path = `/v1/preview/training-jobs/${id}/events`
      const more = await readAll<JobEvent>(path, { signal, after })
      return more.length === 0 ? known : [...known, ...more]
    },
    refetchInterval: ({ state: { data = [] } }) =>
      isLive || (data.length > 0 && !haveEnded(data)) ? TRAINING_LIVE_MS : false,
  })
}

export async function cancelJob(id: string): Promise<Job> {
  return await askJson(`/v1/preview/training-jobs/${id}/cancel`, { method: 'POST', isRepeatable: true })
}
