import { Readable } from 'node:stream'
import { allowsSomewhere, mayNot, requireRight } from '../../access.ts'
import { notFound, unavailable } from '../../errors.ts'
import { mayTake } from '../../fairness/shared-slots.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { CommitInDoubt, type ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { asLines, readGroups } from '../trajectories/read-groups.ts'
import { dataKeyOf } from './blob-owner.ts'
import type { JobsDeps } from './deps.ts'
import { rlConfigOf, sftConfigOf } from './job-config.ts'
import type { JobRow } from './queries.ts'
import * as queries from './queries.ts'
import { JobHead, type SftJobCreateReq } from './wire.ts'

/** Jobs that wait for a worker, of which each entity may have a share; each holds its rollouts on disk. */
const WAITING_MAX = 1_000

type NewJob = Pick<JobRow, 'id' | 'model_id' | 'kind' | 'data_key' | 'dataset_ref'> & {
  config: object
  counts: Record<string, number>
}

/** Before the id of an SFT job in the name of the owner of its data. */
export const OWNER_PREFIX = 'job:'

/** The owner of the data of an SFT job. */
export function ownerOf(jobId: string): string {
  return OWNER_PREFIX + jobId
}

/** Accepts jobs; nothing of a refused job is kept. A job that may have been accepted keeps its data. */
export interface JobSubmitter {
  /**
   * Accepts an RL job, once its groups are on disk. With a `dataset_ref`, its trajectories are calls already.
   * @throws 422 for a bad body, 403, 404 for an unknown model, 402, 413, 429, 503 without an engine.
   */
  rl(
    stream: ReadableStream<Uint8Array>,
    context: CallContext,
    options?: { dataset_ref: string | null },
  ): Promise<JobRow>
  /** Accepts an SFT job. @throws 404 for an unknown model or data, 400 for a URL of another kind, 402, 429, 503. */
  sft(req: SftJobCreateReq, context: CallContext): Promise<JobRow>
}

export function createJobSubmitter(deps: JobsDeps): JobSubmitter {
  const { control, blobs, contents, models, baseModels, trainingData, trajectoryCalls, queue, defaults } =
    deps

  /** @throws 503 without an engine or with too many jobs waiting. */
  async function assertRoom(): Promise<void> {
    baseModels.assertAvailable()
    await requireRoom(control, undefined)
  }

  /** @throws 404 for a model that the caller may not see, as for unknown ones; 403; 402 without room */
  async function checkMayTrain(modelId: string, { caller, limits }: CallContext): Promise<void> {
    const model = await models.existing(modelId)
    if (!caller.rights.allows('read', model)) throw notFound('model', modelId)
    requireRight(caller.rights, 'write', model)
    limits?.stores(model.entity, 0)
  }

  async function submit(job: NewJob, { caller, limits }: CallContext): Promise<JobRow> {
    const model = await models.existing(job.model_id)
    const of = { entity: model.entity, keyId: caller.keyId }
    limits?.forEntity(of.entity)
    // No bytes: what jobs were given is deleted with them, but an entity without room gets no new ones.
    limits?.stores(of.entity, 0)
    const row = newRow(job, model, caller)
    await control.transaction().execute(async (tx) => {
      await requireRoom(tx, of.entity)
      await deps.workLimits.check(tx, { kind: 'training_jobs', ...of, countOpenBy: queue.countOpenBy })
      await queries.insertJob(tx, row)
      await queue.addIn(tx, row, of)
      // Trajectories that came from calls need not become calls.
      if (row.kind === 'rl' && row.dataset_ref === null) await trajectoryCalls.addIn(tx, row.id, model.entity)
    })
    queue.wake()
    return row
  }

  async function rl(
    stream: ReadableStream<Uint8Array>,
    context: CallContext,
    { dataset_ref }: { dataset_ref: string | null } = { dataset_ref: null },
  ): Promise<JobRow> {
    // A body may name its model at its end, when its groups are on disk.
    const { rights } = context.caller
    if (!allowsSomewhere(rights, 'write')) throw mayNot(rights, 'train models')
    await assertRoom()
    const id = newId()
    const data_key = dataKeyOf(id)
    const body = readGroups(stream, JobHead, context.caller.user, async (before) => {
      const named = JobHead.pick({ model_id: true }).safeParse(before).data
      if (named !== undefined) await checkMayTrain(named.model_id, context)
    })
    await blobs.put(data_key, Readable.from(asLines(body.groups())))
    try {
      context.signal.throwIfAborted()
      const { model_id, experimental_config } = body.head()
      await checkMayTrain(model_id, context)
      const config = rlConfigOf(experimental_config ?? {}, defaults)
      const counts = body.counts()
      const job: NewJob = { id, model_id, kind: 'rl', data_key, dataset_ref, config, counts }
      return await submit(job, context)
    } catch (error) {
      if (!(error instanceof CommitInDoubt)) await blobs.delete(data_key)
      throw error
    }
  }

  async function sft(req: SftJobCreateReq, context: CallContext): Promise<JobRow> {
    await assertRoom()
    const { id: model_id } = await models.existing(req.model_id)
    const id = newId()
    try {
      const { digest, size, dataset_ref } = await trainingData.take(
        req.training_data_url,
        ownerOf(id),
        context,
      )
      const config = sftConfigOf(req.config)
      const data = { data_key: digest, dataset_ref, counts: { bytes: size } }
      return await submit({ id, model_id, kind: 'sft', config, ...data }, context)
    } catch (error) {
      if (!(error instanceof CommitInDoubt)) await contents.release([ownerOf(id)])
      throw error
    }
  }

  return { rl, sft }
}

/** @throws 503 with too many jobs waiting, or too many of an entity, once that is known */
async function requireRoom(control: ControlTx, entity: string | undefined): Promise<void> {
  const waiting = await queries.countWaiting(control)
  const taken = waiting.values().reduce((sum, count) => sum + count, 0)
  const held = waiting.get(entity ?? '') ?? 0
  if (mayTake({ held, taken, max: WAITING_MAX })) return
  const ofEntity = entity === undefined ? '' : `, ${held} of them of ${entity}`
  throw unavailable(
    `${taken} training jobs are waiting already${ofEntity}: the limit is ${WAITING_MAX}, and some slots are kept for other teams`,
    60,
  )
}

function newRow(
  { config, counts, ...job }: NewJob,
  { entity, project, base_model }: Pick<JobRow, 'entity' | 'project' | 'base_model'>,
  { user }: Pick<Caller, 'user'>,
): JobRow {
  return {
    ...job,
    entity,
    project,
    base_model,
    state: 'queued',
    config: JSON.stringify(config),
    counts: JSON.stringify(counts),
    source_checkpoint_id: null,
    checkpoint_step: null,
    attempts: 0,
    error_message: null,
    created_by: user,
    created_at: nowIso(),
    started_at: null,
    ended_at: null,
  }
}
