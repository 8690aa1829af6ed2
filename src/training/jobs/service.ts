import { Readable } from 'node:stream'
import type { z } from 'zod'
import { notFound, unavailable } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { Blobs } from '../../stores/blobs/port.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'
import type { BaseModels } from '../base-models/service.ts'
import type { Models } from '../models/service.ts'
import { toPage } from '../page-wire.ts'
import { countWaiting, findEvent, findJob, insertJob, type JobRow, listEvents } from './queries.ts'
import { readJobBody } from './read-body.ts'
import { rlConfigOf } from './rl-config.ts'
import type { JobRunner } from './runner.ts'
import { type EventsListQuery, JobEvent, type JobRes } from './wire.ts'

/** Jobs that wait for a worker; each holds its rollouts on disk. */
const WAITING_MAX = 1_000

export type Jobs = ReturnType<typeof createJobs>

export interface JobsDeps {
  control: ControlDb
  blobs: Blobs
  models: Models
  baseModels: BaseModels
  runner: JobRunner
}

/** Training jobs as clients see them. */
export function createJobs({ control, blobs, models, baseModels, runner }: JobsDeps) {
  async function existing(id: string): Promise<JobRow> {
    const row = await findJob(control, id)
    if (row === undefined) throw notFound('training job', id)
    return row
  }

  return {
    /**
     * Takes a job. It is answered once its groups are safe on disk; of a job that is refused nothing stays.
     * @throws 422 for a bad body, 404 for an unknown model, 413, 503 without an engine.
     */
    async create(input: { stream: ReadableStream<Uint8Array> }, context: CallContext) {
      baseModels.assertAvailable()
      if ((await countWaiting(control)) >= WAITING_MAX) {
        throw unavailable(`${WAITING_MAX} training jobs are waiting already`, 60)
      }
      const id = newId()
      const dataKey = `trajectory-groups/${id}.jsonl`
      const body = readJobBody(input.stream)
      await blobs.put(dataKey, Readable.from(body.lines()))
      try {
        context.signal.throwIfAborted()
        const head = body.head()
        const model = await models.existing(head.model_id)
        const row: JobRow = {
          id,
          model_id: model.id,
          base_model: model.base_model,
          kind: 'rl',
          state: 'queued',
          config: JSON.stringify(rlConfigOf(head.experimental_config ?? {})),
          data_key: dataKey,
          source_checkpoint_id: null,
          checkpoint_step: null,
          attempts: 0,
          error_message: null,
          created_by: context.caller.user,
          created_at: nowIso(),
          started_at: null,
          ended_at: null,
        }
        await insertJob(control, row)
        runner.kick(model.base_model)
        return toWire(row, runner)
      } catch (error) {
        await blobs.delete(dataKey)
        throw error
      }
    },

    async get({ training_job_id }: { training_job_id: string }) {
      return toWire(await existing(training_job_id), runner)
    },

    /** Ends a job within one gradient step; a job that has ended stays as it is. */
    async cancel({ training_job_id }: { training_job_id: string }) {
      const row = await existing(training_job_id)
      await runner.cancel(row, 'The job was cancelled')
      return toWire(await existing(training_job_id), runner)
    },

    /** A page of events, oldest first. @throws 404 for an unknown job or cursor. */
    async events(req: EventsListQuery & { training_job_id: string }) {
      const job = await existing(req.training_job_id)
      const cursor = req.after === undefined ? undefined : await findEvent(control, req.after)
      if (req.after !== undefined && cursor?.job_id !== job.id) throw notFound('event', req.after)
      const afterPosition = cursor?.position ?? 0
      const rows = await listEvents(control, { job_id: job.id, afterPosition, limit: req.limit + 1 })
      const items = rows.map(({ id, type, data }) => JobEvent.parse({ id, type, data: JSON.parse(data) }))
      return toPage(items, req.limit)
    },
  }
}

function toWire(row: JobRow, runner: JobRunner): z.input<typeof JobRes> {
  return {
    id: row.id,
    model_id: row.model_id,
    kind: row.kind,
    state: row.state,
    created_at: row.created_at,
    started_at: row.started_at,
    ended_at: row.ended_at,
    error_message: row.error_message,
    checkpoint_step: row.checkpoint_step,
    progress: row.state === 'running' ? runner.progressOf(row.id) : null,
  }
}
