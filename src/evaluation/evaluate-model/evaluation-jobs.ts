import { z } from 'zod'
import { placeOf } from '../../access.ts'
import type { Projects } from '../../accounts/projects.ts'
import { messageOf } from '../../errors.ts'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { JobsOfKind } from '../../jobs/jobs-of-kind.ts'
import { JsonText } from '../../json/lossless-json.ts'
import type { Log } from '../../log.ts'
import { nowIso } from '../../time.ts'
import { endPart } from '../../trace/calls/write/parts.ts'
import type { PlaceholderOps } from '../../trace/objects/placeholder-ops.ts'
import type { Tables } from '../../trace/tables/service.ts'
import { EVALUATE, PREDICT_AND_SCORE, SUMMARIZE } from '../evaluation-runs/evaluation-calls.ts'
import { isTemporary } from '../retry.ts'
import type { LoadingDeps } from '../scorers/load-scorer.ts'
import { PREDICT } from './evaluate-row.ts'
import { loadEvaluation } from './load-evaluation.ts'
import { type RunningDeps, runEvaluation } from './run-evaluation.ts'
import { EvaluationDeleted } from './while-wanted.ts'

/** Evaluations that run at once; each has its rows in turn, and all share the same models. */
const AT_ONCE = 4

/**
 * Where evaluations of other entities wait, one that has had this long continues after them; each turn reads which rows
 * are done.
 */
const TURN_MS = 60_000

/** What may succeed later is tried again after 1, 2, 4 … 256 s: for about as long as it takes to install the engine. */
const ATTEMPTS_MAX = 10

/** An evaluation during which the server ended so often may be what ends it. */
const INTERRUPTIONS_MAX = 3
const RETRY_MS = 1000

const OPS = [EVALUATE, PREDICT_AND_SCORE, SUMMARIZE, PREDICT]

/** An evaluation that runs on the server; its job has the id of its call. */
export const EvaluationPayload = z.object({
  project_id: z.string(),
  evaluation_ref: z.string(),
  model_ref: z.string(),
  user: z.string(),
  key_id: z.string(),
})
export type EvaluationPayload = z.output<typeof EvaluationPayload>

export type EvaluationJobsDeps = Omit<RunningDeps, 'opRef' | 'tables'> &
  LoadingDeps & {
    jobQueue: JobQueue
    projects: { closed: Pick<Projects['closed'], 'has'> }
    tables: Pick<Tables, 'queryStats' | 'queryStream'>
    ops: PlaceholderOps
    log: Log
  }

/** Declares the jobs that run evaluations; after a restart, an interrupted one continues with the remaining rows. */
export function defineEvaluationJobs(deps: EvaluationJobsDeps): JobsOfKind<EvaluationPayload> {
  const { calls, ops, projects, log } = deps

  async function writeFailure(project_id: string, id: string, exception: string): Promise<void> {
    const end = { project_id, id, ended_at: nowIso(), exception, summary: new JsonText('{}') }
    await calls.writeParts([endPart(end, [])])
  }

  return deps.jobQueue.define<EvaluationPayload>({
    kind: 'evaluate_model',
    payload: EvaluationPayload,
    concurrency: AT_ONCE,
    turnMs: TURN_MS,
    attemptsMax: ATTEMPTS_MAX,
    interruptionsMax: INTERRUPTIONS_MAX,
    retryMs: (attempt) => 2 ** (attempt - 1) * RETRY_MS,
    retries: isTemporary,

    async handle({ id, payload, isLastAttempt }, { signal, turn }) {
      const { project_id, user } = payload
      try {
        const evaluation = await loadEvaluation(deps, payload)
        const placeholders = evaluation.scorers.flatMap(({ placeholder }) => placeholder ?? [])
        await ops.publish(project_id, [...OPS, ...placeholders], user)
        const job = { ...payload, call_id: id, isLastAttempt }
        await runEvaluation({ ...deps, opRef: ops.refOf }, job, evaluation, { signal, turn })
      } catch (error) {
        if (!(error instanceof EvaluationDeleted)) throw error
        log.info({ evaluation: id, reason: messageOf(error) }, 'evaluation ended')
        // Results of rows may have been written after the deletion looked for calls below the evaluation.
        await calls.delete({ project_id, call_ids: [id] })
      }
    },

    async giveUp({ id, payload }, { reason }) {
      log.info({ evaluation: id, reason }, 'evaluation failed')
      await writeFailure(payload.project_id, id, reason).catch((error: unknown) => {
        // Nothing is written to a project that is being deleted, and its evaluations go with it.
        if (!projects.closed.has(placeOf(payload.project_id))) throw error
      })
    },
  })
}
