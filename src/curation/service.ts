import { invalidRequest, tooManyRequests } from '../errors.ts'
import { createFairLimiter } from '../fairness/fair-limiter.ts'
import type { CallContext } from '../http/caller.ts'
import { JsonText } from '../json/lossless-json.ts'
import { checkObjectId } from '../trace/objects/publisher.ts'
import { safeName } from '../trace/objects/safe-name.ts'
import { projectIdOf } from '../trace/project-path-wire.ts'
import { objectRef } from '../trace/typed-objects/group.ts'
import type { TypedObjects } from '../trace/typed-objects/service.ts'
import { type CollectorDeps, createCollector } from './collector.ts'
import { groupsOf } from './groups.ts'
import { createTally } from './left-out.ts'
import { createTraining, type TrainingDeps } from './training.ts'
import type { CollectReq, CollectRes } from './wire.ts'

/** Collects at once: the rows of each may take some 500 MB. */
const AT_ONCE = 4

/** Those of one entity that wait, each with its request open. */
const WAITING_MAX = 20

/** Seconds after which one that was refused may have room. */
const RETRY_SECONDS = 10

export interface CurationDeps extends CollectorDeps, TrainingDeps {
  typedObjects: { datasets: Pick<TypedObjects['datasets'], 'create'> }
}

/** Makes training data of calls and their scores. */
export interface Curation {
  /**
   * Collects calls into a version of a dataset and, on request, submits a training job on it. The same calls make the
   * same version, so a request whose job was refused can be repeated. A project collects once at a time, and projects
   * take turns.
   * @throws 400 that says why nothing was collected; 404 for unknown things; 413; 429 where too many collects of the
   * entity wait; what refuses a training job.
   */
  collect(req: CollectReq, context: CallContext): Promise<CollectRes>
}

export function createCuration(deps: CurationDeps): Curation {
  const { gather } = createCollector(deps)
  const training = createTraining(deps)
  const turns = createFairLimiter({
    slots: AT_ONCE,
    ownerSlots: 1,
    waitingMax: WAITING_MAX,
    refusal: (entity) =>
      tooManyRequests(`${WAITING_MAX} collects of ${entity} are waiting already`, RETRY_SECONDS),
  })

  async function collectInTurn(req: CollectReq, context: CallContext): Promise<CollectRes> {
    const { entity, project } = req
    const { name, train, isGrouped } = targetOf(req)
    checkObjectId(safeName(name))
    const projectId = projectIdOf(req)
    if (train != null) await training.check(projectId, train)
    const tally = createTally()
    const gathered = await gather({ req, tally, context })
    const groups = isGrouped ? groupsOf(gathered, tally) : undefined
    const rows = groups?.flatMap((group) => group.rows) ?? gathered
    if (rows.length === 0) throw tally.nothing()
    // Checked before anything is written, since it may be refused.
    const modelId = train == null ? undefined : await training.register(projectId, train, context)
    const dataset = { entity, project, name, rows: rows.map(({ text }) => new JsonText(text)) }
    const datasetRef = objectRef(projectId, await deps.typedObjects.datasets.create(dataset, context))
    const jobId =
      train == null || modelId === undefined
        ? null
        : await training.submit(modelId, train, { datasetRef, groups }, context)
    return {
      rows: rows.length,
      left_out: tally.all(),
      dataset_ref: datasetRef,
      groups: groups?.length ?? null,
      job_id: jobId,
    }
  }

  return {
    async collect(req, context) {
      checkReq(req)
      return turns(projectIdOf(req), () => collectInTurn(req, context), context.signal)
    },
  }
}

function targetOf({ into }: CollectReq) {
  if ('dataset' in into) return { name: into.dataset.name, train: undefined, isGrouped: false }
  if ('sft' in into) return { ...into.sft, isGrouped: false }
  return { ...into.trajectory_groups, isGrouped: true }
}

/** @throws 400 for settings that exclude each other. */
function checkReq({ from, score, where, messages, into }: CollectReq): void {
  if (score != null && 'scorer' in score && !('eval_results' in from))
    throw invalidRequest(
      'score.scorer is what a scorer of an evaluation said: collect from eval_results',
      'score',
    )
  if (where != null && score == null) throw invalidRequest('where chooses by the score: say score', 'where')
  if (messages != null && 'dataset' in into && into.dataset.columns != null)
    throw invalidRequest('A dataset has columns or messages: say one of them', 'messages')
  if ('trajectory_groups' in into && into.trajectory_groups.reward == null && score == null)
    throw invalidRequest('Trajectories need a reward: say score, or the path of the reward', 'score')
}
