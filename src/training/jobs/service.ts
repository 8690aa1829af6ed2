import type { Place } from '../../access.ts'
import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { toPage } from '../../wire/page-wire.ts'
import type { JobsDeps } from './deps.ts'
import type { JobRow, ListedJob } from './queries.ts'
import * as queries from './queries.ts'
import { createJobSubmitter, OWNER_PREFIX, ownerOf } from './submitter.ts'
import {
  type EventsListQuery,
  type EventsListRes,
  JobEvent,
  type JobRes,
  type JobsListQuery,
  type JobsListRes,
  type SftJobCreateReq,
} from './wire.ts'

type JobToRemove = Pick<JobRow, 'id' | 'kind' | 'data_key' | 'ended_at'>

/** Training jobs as clients see them. */
export interface Jobs {
  create(req: { stream: ReadableStream<Uint8Array> }, context: CallContext): Promise<JobRes>
  /** The same for trajectories that are calls already, and the rows of a version of a dataset. */
  createOfCalls(
    req: { stream: ReadableStream<Uint8Array>; dataset_ref: string },
    context: CallContext,
  ): Promise<JobRes>
  createSft(req: SftJobCreateReq, context: CallContext): Promise<JobRes>
  get(req: { training_job_id: string }): Promise<JobRes>
  /** A page of jobs that the caller may see, newest first. */
  list(req: JobsListQuery, context: CallContext): Promise<JobsListRes>
  /** Ends a job within one gradient step; a job that has ended stays as it is. */
  cancel(req: { training_job_id: string }): Promise<JobRes>
  /** A page of events, oldest first. @throws 404 for an unknown job or cursor. */
  events(req: EventsListQuery & { training_job_id: string }): Promise<EventsListRes>
  /** Whose a job is; undefined for an id that no job has. */
  placeOf(id: string): Promise<Place | undefined>
  countStates(): Promise<queries.StateCount[]>
  /** Ends the open jobs of a deleted model, and removes the training data of its jobs. */
  removeOfModel(modelId: string): Promise<void>
  /** Ends a job of a deleted model, where it is open, and removes its training data. */
  remove(job: JobToRemove): Promise<void>
  /** Removes the training data of a job; one that has none is no error. */
  releaseData(job: Pick<JobRow, 'id' | 'kind' | 'data_key'>): Promise<void>
  /**
   * Removes leftovers of a crash: training data of SFT jobs that were sent before a time, in milliseconds since 1970,
   * and never accepted. That of RL jobs is left to the sweep of blobs.
   */
  sweep(before: number): Promise<void>
}

export function createJobs(deps: JobsDeps): Jobs {
  const { control, queue } = deps
  const submitter = createJobSubmitter(deps)

  async function existing(id: string): Promise<JobRow> {
    const row = await queries.findJob(control, id)
    if (row === undefined) throw notFound('training job', id)
    return row
  }

  async function shown(rows: readonly ListedJob[]): Promise<JobRes[]> {
    const ids = rows.map((row) => row.id)
    const steps = await queries.countSteps(control, ids)
    const positions = new Map<string, number>()
    const waiting = rows.filter((row) => row.state === 'queued')
    for (const baseModel of new Set(waiting.map((row) => row.base_model))) {
      for (const [id, position] of await queue.places(baseModel)) positions.set(id, position)
    }
    const running = rows.filter((row) => row.state === 'running').map((row) => row.id)
    const progress = await queue.progressOf(running)
    return rows.map((row) => ({
      ...plain(row),
      progress: progress.get(row.id) ?? null,
      queue_position: positions.get(row.id) ?? null,
      counts: { ...JSON.parse(row.counts), gradient_steps: steps.get(row.id) ?? 0 },
    }))
  }

  async function shownOne(row: ListedJob): Promise<JobRes> {
    const [job] = await shown([row])
    if (job === undefined) throw notFound('training job', row.id)
    return job
  }

  async function list({ model_id, state, after, limit }: JobsListQuery, { caller }: CallContext) {
    const page = { model_id, state, beforeId: after, limit: limit + 1, within: caller.rights }
    return toPage(await shown(await queries.listJobs(control, page)), limit)
  }

  async function cancel({ training_job_id }: { training_job_id: string }) {
    const row = await existing(training_job_id)
    if (row.ended_at === null) await queue.cancel(row.id, 'The job was cancelled')
    return shownOne(await existing(training_job_id))
  }

  async function events(req: EventsListQuery & { training_job_id: string }) {
    const job = await existing(req.training_job_id)
    const cursor = req.after === undefined ? undefined : await queries.findEvent(control, req.after)
    if (req.after !== undefined && cursor?.job_id !== job.id) throw notFound('event', req.after)
    const page = { job_id: job.id, afterPosition: cursor?.position ?? 0, limit: req.limit + 1 }
    const rows = await queries.listEvents(control, page)
    const items = rows.map(({ id, type, data }) => JobEvent.parse({ id, type, data: JSON.parse(data) }))
    return toPage(items, req.limit)
  }

  async function placeOf(id: string): Promise<Place | undefined> {
    const row = await queries.findJob(control, id)
    return row?.entity === '' ? deps.models.placeOf(row.model_id) : row
  }

  async function removeOfModel(modelId: string): Promise<void> {
    for (const job of await queries.jobsOfModel(control, modelId)) await remove(job)
  }

  async function remove(job: JobToRemove): Promise<void> {
    if (job.ended_at === null) await queue.cancel(job.id, 'The model was deleted')
    await releaseData(job)
  }

  async function releaseData(job: Pick<JobRow, 'id' | 'kind' | 'data_key'>): Promise<void> {
    if (job.kind === 'rl') await deps.blobs.delete(job.data_key)
    else await deps.contents.release([ownerOf(job.id)])
  }

  async function sweep(before: number): Promise<void> {
    await deps.contents.releaseLeftovers(OWNER_PREFIX, before, queries.selectIds(control))
  }

  return {
    create: async ({ stream }, context) => shownOne(await submitter.rl(stream, context)),
    createOfCalls: async ({ stream, dataset_ref }, context) =>
      shownOne(await submitter.rl(stream, context, { dataset_ref })),
    createSft: async (req, context) => shownOne(await submitter.sft(req, context)),
    get: async ({ training_job_id }) => shownOne(await existing(training_job_id)),
    list,
    cancel,
    events,
    placeOf,
    countStates: () => queries.countStates(control),
    removeOfModel,
    remove,
    releaseData,
    sweep,
  }
}

function plain(row: ListedJob) {
  const { id, model_id, kind, state, attempts, checkpoint_step, dataset_ref, error_message } = row
  const { created_at, started_at, ended_at } = row
  return {
    id,
    model_id,
    kind,
    state,
    created_at,
    started_at,
    ended_at,
    error_message,
    checkpoint_step,
    dataset_ref,
    attempts,
  }
}
