import pLimit from 'p-limit'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { JsonText } from '../../lossless-json.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'
import { endPart } from '../../trace/calls/parts.ts'
import { EVALUATE, PREDICT_AND_SCORE, SUMMARIZE } from '../../trace/evaluation-runs/evaluation-calls.ts'
import type { PlaceholderOps } from '../../trace/objects/placeholder-ops.ts'
import type { Tables } from '../../trace/tables/service.ts'
import { patiently } from '../patiently.ts'
import type { LoadingDeps } from '../scorers/load-scorer.ts'
import { PREDICT } from './evaluate-row.ts'
import { type LoadedEvaluation, loadEvaluation } from './load-evaluation.ts'
import * as queries from './queries.ts'
import { EvaluationDeleted, type RunningDeps, runEvaluation } from './run-evaluation.ts'

/** Evaluations that run at once; each has its rows in turn, and all share the same models. */
const AT_ONCE = 4

const OPS = [EVALUATE, PREDICT_AND_SCORE, SUMMARIZE, PREDICT]

export type RunnerDeps = Omit<RunningDeps, 'opRef' | 'tables'> &
  LoadingDeps & {
    control: ControlDb
    tables: Pick<Tables, 'queryStats' | 'queryStream'>
    ops: PlaceholderOps
    log: Log
  }

/** Runs evaluations, some at a time; those that the server's end cuts off go on when it is started again. */
export function createEvaluationRunner(deps: RunnerDeps) {
  const { control, calls, ops, log } = deps
  const disposal = new AbortController()
  const turns = pLimit(AT_ONCE)
  const running = new Map<string, { cancel: AbortController; ended: Promise<void> }>()

  async function publishOps({ project_id, user }: queries.EvaluationJob, { scorers }: LoadedEvaluation) {
    await ops.publish(project_id, [...OPS, ...scorers.map(({ opName }) => opName)], user)
  }

  async function writeFailure({ project_id, call_id }: queries.EvaluationJob, exception: string) {
    const end = { project_id, id: call_id, ended_at: nowIso(), exception, summary: new JsonText('{}') }
    await calls.writeParts([endPart(end, [])])
  }

  /** Takes an evaluation to its end, or leaves it for the next start of the server. */
  async function run(job: queries.EvaluationJob, cancel: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([disposal.signal, cancel])
    try {
      await patiently(async () => {
        const evaluation = await loadEvaluation(deps, job)
        await publishOps(job, evaluation)
        await runEvaluation({ ...deps, opRef: ops.refOf }, job, evaluation, signal)
      }, signal)
    } catch (error) {
      if (disposal.signal.aborted) return
      log.info({ evaluation: job.call_id, reason: messageOf(error) }, 'evaluation failed')
      if (!(error instanceof EvaluationDeleted)) await writeFailure(job, messageOf(error))
    }
    await queries.deleteJob(control, job.call_id)
  }

  function take(job: queries.EvaluationJob): void {
    const cancel = new AbortController()
    const ended = turns(() => run(job, cancel.signal))
      .catch((error: unknown) => {
        // Its row stays, so that it is taken up when the server starts again.
        log.error({ err: error, evaluation: job.call_id }, 'an evaluation was left')
      })
      .finally(() => running.delete(job.call_id))
    running.set(job.call_id, { cancel, ended })
  }

  return {
    take,

    /** Whether it was running, or waiting to. */
    cancel(callId: string): boolean {
      const own = running.get(callId)
      own?.cancel.abort(new Error('The evaluation was cancelled'))
      return own !== undefined
    },

    /** Takes up what an earlier server left. */
    async start(): Promise<AsyncDisposable> {
      for (const job of await queries.openJobs(control)) take(job)
      return {
        async [Symbol.asyncDispose]() {
          disposal.abort(new Error('The server is stopping'))
          await Promise.all([...running.values()].map(({ ended }) => ended))
        },
      }
    },
  }
}
