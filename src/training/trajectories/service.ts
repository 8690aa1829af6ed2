import { Readable } from 'node:stream'
import type { BlobOwner } from '../../blob-sweep.ts'
import { invalidRequest } from '../../errors.ts'
import { type CallContext, countedUpload } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { Redaction, Redactor } from '../../redaction/service.ts'
import type { Blobs } from '../../stores/blobs/port.ts'
import { nowIso } from '../../time.ts'
import { utf8Text } from '../../utf8-text.ts'
import { ValidationFailure } from '../../wire/validation-error.ts'
import type { Checkpoints } from '../checkpoints/service.ts'
import type { ModelRegistry } from '../model-registry/service.ts'
import { checkGroup } from './check-group.ts'
import { createGroupMetrics, type GroupMetrics } from './group-metrics.ts'
import { asLines, type ReadGroup, readGroups } from './read-groups.ts'
import type { TrajectoryCalls } from './trajectory-calls.ts'
import { LogHead, type LogRes } from './wire.ts'

/** Prefix of logged trajectories, until they are calls. */
const PREFIX = 'logged-trajectories/'

/** They are only stored while a request makes calls of them. */
export const LOGGED_TRAJECTORIES_OWNER: BlobOwner = { prefix: PREFIX, ownedOf: async () => new Set() }

export interface TrajectoriesDeps {
  blobs: Blobs
  models: Pick<ModelRegistry, 'existing'>
  checkpoints: Checkpoints
  trajectoryCalls: TrajectoryCalls
  redaction: Pick<Redaction, 'of'>
}

/** Trajectories that are logged for review and not trained on. */
export interface Trajectories {
  /**
   * Makes calls of a split's trajectories, and adds the split's metrics to the newest checkpoint.
   * @throws 422 for a bad body, 404 for an unknown model, 402 without room, 413; nothing of a refused body is kept.
   */
  log(input: { model_id: string; stream: ReadableStream<Uint8Array> }, context: CallContext): Promise<LogRes>
}

export function createTrajectories({
  blobs,
  models,
  checkpoints,
  trajectoryCalls,
  redaction,
}: TrajectoriesDeps): Trajectories {
  async function log(input: { model_id: string; stream: ReadableStream<Uint8Array> }, context: CallContext) {
    const { caller } = context
    const model = await models.existing(input.model_id)
    const bytes = countedUpload(input.stream, model.entity, context)
    const project_id = `${model.entity}/${model.project}`
    const redactor = await redaction.of(project_id)
    const id = newId()
    const key = `${PREFIX}${id}.jsonl`
    const body = readGroups(bytes, LogHead, caller.user)
    try {
      const groups =
        redactor === undefined ? body.groups() : redactedGroups(body.groups(), redactor, caller.user)
      const metrics = createGroupMetrics()
      await blobs.put(key, Readable.from(asLines(counted(groups, metrics))))
      const { split } = body.head()
      const source = {
        id,
        project_id,
        attributes: { model_id: model.id, model: model.name },
        split,
        at: nowIso(),
      }
      const num_calls = await trajectoryCalls.writeGroups({ key, source }, caller.user)
      const ofSplit = metrics.result(split)
      return {
        step: (await checkpoints.addMetrics(model.id, ofSplit)) ?? null,
        metrics: ofSplit,
        num_calls,
      }
    } finally {
      await blobs.delete(key)
    }
  }

  return { log }
}

/** @throws 400 for a group of which the rules leave none, 413 and 503 */
async function* redactedGroups(
  groups: AsyncIterable<ReadGroup>,
  redactor: Redactor,
  user: string,
): AsyncGenerator<ReadGroup> {
  let index = 0
  for await (const group of groups) {
    const text = utf8Text(group.bytes)
    const [redacted = text] = await redactor.redact([{ form: 'json', text }])
    if (redacted === text) yield group
    else yield await checkedAgain(Buffer.from(redacted), index, user)
    index++
  }
}

async function checkedAgain(redacted: Uint8Array, index: number, user: string): Promise<ReadGroup> {
  try {
    const { sums } = await checkGroup(redacted, index, user)
    return { bytes: redacted, sums }
  } catch (error) {
    if (!(error instanceof ValidationFailure)) throw error
    throw invalidRequest('The redaction rules of the project take away what a trajectory group needs')
  }
}

/** The groups, of which each is counted. */
async function* counted(groups: AsyncIterable<ReadGroup>, metrics: GroupMetrics): AsyncGenerator<ReadGroup> {
  for await (const group of groups) {
    metrics.add(group.sums)
    yield group
  }
}
