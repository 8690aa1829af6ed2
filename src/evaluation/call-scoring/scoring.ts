import { placeOf } from '../../access.ts'
import type { Principals } from '../../accounts/callers/principals.ts'
import { invalidRequest, messageOf, StoreFailed } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Playground } from '../../inference/playground/service.ts'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { Log } from '../../log.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import type { FeedbackCreateReq } from '../../trace/feedback/wire.ts'
import type { PlaceholderOps } from '../../trace/objects/placeholder-ops.ts'
import { parseRef } from '../../trace/ref-uri.ts'
import type { Refs } from '../../trace/refs/service.ts'
import { askAs } from '../ask.ts'
import { contextOfWork } from '../background-context.ts'
import { type RecordedCalls, recordCalls } from '../recorded-calls.ts'
import { isTemporary } from '../retry.ts'
import { type LoadingDeps, loadScorer } from '../scorers/load-scorer.ts'
import { scoreFeedback } from '../scorers/score-feedback.ts'
import type { Scored, Scorer } from '../scorers/scorer.ts'
import type { MonitorsOfProjects } from './monitors-of-projects.ts'
import * as queries from './queries.ts'
import { targetOf } from './scored-target.ts'
import { joinWaiting, type NewScoringTask, ScoringTask, type ScoringTasks } from './scoring-task.ts'
import { createWaitingLimits, type WaitingLimits } from './waiting-scores.ts'

/** Tasks done at once; a judge spends most of its time waiting for a model. */
const AT_ONCE = 24

/** Those of one entity: others have the rest, though a model that it asks may take ten minutes for each answer. */
const ENTITY_AT_ONCE = 16

/**
 * A task that fails because of a store or a model is retried after 2, 4, 8 … s, and given up after about an hour and a
 * half.
 */
const ATTEMPTS_MAX = 12

/** A task during which the server ended so often may be what ends it. */
const INTERRUPTIONS_MAX = 3

export interface ScoringDeps extends LoadingDeps {
  control: ControlDb
  calls: Pick<Calls, 'list' | 'writeParts'>
  feedback: Pick<Feedback, 'record'>
  refs: Pick<Refs, 'resolve'>
  playground: Pick<Playground, 'ask'>
  ops: PlaceholderOps
  jobQueue: JobQueue
  principals: Principals
  monitorsOf: MonitorsOfProjects
  log: Log
}

/** Applies scorers to calls that have been written. */
export interface Scoring {
  tasks: ScoringTasks
  waiting: WaitingLimits
}

export function createScoring(deps: ScoringDeps): Scoring {
  const jobs = deps.jobQueue.define<ScoringTask>({
    kind: 'score_call',
    payload: ScoringTask,
    concurrency: AT_ONCE,
    entityConcurrency: ENTITY_AT_ONCE,
    attemptsMax: ATTEMPTS_MAX,
    interruptionsMax: INTERRUPTIONS_MAX,
    keeps: 'failures',
    retries: isTemporary,

    async handle({ id, payload, isLastAttempt }, { signal }) {
      const task = { ...payload, id }
      const outcome = await apply(deps, { task, isLastAttempt }, signal)
      if (outcome !== undefined) await recordOutcome(deps, task, outcome.error)
    },

    async giveUp({ id, payload }, { why, reason }, { signal }) {
      const task = { ...payload, id }
      if (why !== 'interrupted') return recordOutcome(deps, task, reason)
      const refused = { task, isLastAttempt: true, refusal: reason }
      const outcome = await apply(deps, refused, signal).catch((error: unknown) => {
        if (isTemporary(error)) throw error
        return { error: messageOf(error) }
      })
      if (outcome !== undefined) await recordOutcome(deps, task, outcome.error)
    },
  })
  return {
    tasks: {
      addIn: (tx, tasks) => jobs.replaceIn(tx, tasks.map(ofItsEntity), joinWaiting),
      wake: jobs.wake,
    },
    waiting: createWaitingLimits(jobs),
  }
}

/** A task and the id that its job and its feedback have. */
type Task = ScoringTask & { id: string }

/** An attempt at a task; with a `refusal`, the scorer is not run and its call says why. */
interface Attempt {
  task: Task
  isLastAttempt: boolean
  refusal?: string
}

/**
 * @throws ClientError of 400 and above for what cannot be scored, or no longer in the name of its user, of 429 and
 * above for what can be tried again; at the last attempt every error is recorded in the scoring's call.
 */
async function apply(deps: ScoringDeps, attempt: Attempt, signal: AbortSignal): Promise<Outcome | undefined> {
  const { task, isLastAttempt } = attempt
  const { project_id, user } = task
  if (!(await isStillWanted(deps, task))) return undefined
  const context = await contextOfWork(deps.principals, task, signal)
  const target = await targetOf(deps, task, context)
  if (target === undefined) return undefined
  const scorer = await loadScorer(deps, { ref: task.scorer_ref, projectId: project_id })
  if (scorer.placeholder !== undefined) await deps.ops.publish(project_id, [scorer.placeholder], user)
  const { call } = target
  const attributes = { weave: { scored_call: call.id, trigger_ref: task.trigger_ref ?? undefined } }
  const under = { project_id, base: task.id, trace_id: task.id, parent_id: undefined, attributes, user }
  const recorded = recordCalls(under)
  const outcome = await scoreAsCall(deps, { ...attempt, ...target, scorer, recorded }, context).catch(
    (error: unknown) => {
      if (error instanceof StoreFailed || (isTemporary(error) && !isLastAttempt)) throw error
      return { error: messageOf(error) }
    },
  )
  signal.throwIfAborted()
  if (task.is_traced) await deps.calls.writeParts(recorded.parts)
  if ('error' in outcome) return outcome
  await deps.feedback.record(outcome.feedback, user)
  return {}
}

/** Whether the monitor that defined a task is still there and active, in whatever version; a request stays wanted. */
async function isStillWanted({ monitorsOf }: ScoringDeps, task: Task): Promise<boolean> {
  if (task.trigger_ref === null) return true
  const { name } = parseRef(task.trigger_ref)
  const monitors = await monitorsOf(task.project_id)
  return monitors.some(({ object_id, is_active }) => is_active && object_id === name)
}

/** Counts the outcome of a task for its monitor, and logs why it failed. */
async function recordOutcome({ control, log }: ScoringDeps, task: Task, error?: string): Promise<void> {
  const { call_id, scorer_ref, trigger_ref, project_id } = task
  if (error !== undefined)
    log.warn({ call: call_id, scorer: scorer_ref, reason: error }, 'a call was not scored')
  if (trigger_ref === null) return
  const { name: object_id, version } = parseRef(trigger_ref)
  await queries.countRun(control, { project_id, object_id, digest: String(version), error: error ?? null })
}

/** The outcome of a task whose call exists. */
interface Outcome {
  /** Why it was not scored. */
  error?: string
}

/** A scorer and what it is applied to. */
interface Work extends Attempt {
  scorer: Scorer
  call: Call
  scored: Scored
  recorded: RecordedCalls
}

/** Scores as a call; resolves with the scorer's results. */
function scoreAsCall(
  { playground }: ScoringDeps,
  work: Work,
  context: CallContext,
): Promise<{ feedback: FeedbackCreateReq[] }> {
  const { task, refusal, scorer, scored, recorded } = work
  const { project_id, trigger_ref } = task
  const { call: _call, turn: _turn, ...shown } = scored
  const call = {
    op_name: scorer.opRef,
    inputs: { self: scorer.ref, ...shown },
    seed: 'score',
  }
  return recorded.call(call, async (own) => {
    if (refusal !== undefined) throw invalidRequest(refusal)
    const trigger = trigger_ref === null ? undefined : parseRef(trigger_ref)
    const output = await scorer.score(scored, {
      ask: askAs({ playground, context, project_id }, own),
      project_id,
      callId: own.id ?? task.id,
      traceId: task.id,
      monitor: trigger && { name: trigger.name, version_digest: String(trigger.version) },
      signal: context.signal,
    })
    return { result: { feedback: feedbackOf(work, own.id, output) }, output }
  })
}

function feedbackOf(
  { task, scorer, call, scored }: Work,
  callId: string | undefined,
  output: unknown,
): FeedbackCreateReq[] {
  return scoreFeedback({
    id: task.id,
    project_id: task.project_id,
    scorer,
    output,
    scoredId: call.id,
    callId: task.is_traced ? callId : undefined,
    turn: scored.turn,
    triggerRef: task.trigger_ref,
  })
}

function ofItsEntity(task: NewScoringTask): NewScoringTask & { entity: string } {
  return { ...task, entity: placeOf(task.payload.project_id).entity }
}
