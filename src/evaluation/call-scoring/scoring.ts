import pMap from 'p-map'
import { messageOf } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Playground } from '../../inference/playground/service.ts'
import type { Log } from '../../log.ts'
import type { JsonText } from '../../lossless-json.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import { isoOfMicros, nowIso } from '../../time.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Call } from '../../trace/calls/wire.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import type { PlaceholderOps } from '../../trace/objects/placeholder-ops.ts'
import { refsAmong, withValues } from '../../trace/refs/input-refs.ts'
import type { Refs } from '../../trace/refs/service.ts'
import { askAs } from '../asking.ts'
import { backgroundContext } from '../background-context.ts'
import { createBackgroundLoop } from '../background-loop.ts'
import { isTemporary } from '../patiently.ts'
import { recordCalls } from '../recorded-calls.ts'
import { scoreFeedback } from '../score-feedback.ts'
import { type LoadingDeps, loadScorer } from '../scorers/load-scorer.ts'
import type { Scored, Scorer } from '../scorers/scorer.ts'
import * as queries from './queries.ts'

/** Tasks taken at a time, and done at once; a judge's wait for a model most of their time. */
const TAKEN = 64
const AT_ONCE = 16

/** A task that stores or models fail is tried again after 2, 4, 8 … s, and given up after some hours. */
const ATTEMPTS_MAX = 12

export interface ScoringDeps extends LoadingDeps {
  control: ControlDb
  calls: Pick<Calls, 'list' | 'writeParts'>
  feedback: Pick<Feedback, 'record'>
  refs: Pick<Refs, 'resolve'>
  playground: Pick<Playground, 'ask'>
  ops: PlaceholderOps
  log: Log
}

/** Applies scorers to calls that have been written, one task after the other; tasks outlive the server. */
export function createScoring(deps: ScoringDeps) {
  const { control, log } = deps
  const loop = createBackgroundLoop({ name: 'call scoring', log, pass })

  /** @throws ClientError of 400 and above for what cannot be scored, of 429 and above for what can be tried again. */
  async function apply(task: queries.ScoringTask, signal: AbortSignal): Promise<void> {
    const { project_id, user } = task
    const context = backgroundContext(task, signal)
    const call = await findCall(deps, task, context)
    // Whoever deleted the call wants no score of it.
    if (call === undefined) return
    const scorer = await loadScorer(deps, { ref: task.scorer_ref, projectId: project_id })
    await deps.ops.publish(project_id, [scorer.opName], user)
    const scored = await scoredOf(deps, call)
    const attributes = { weave: { scored_call: call.id, trigger_ref: task.trigger_ref ?? undefined } }
    const under = { project_id, base: task.id, trace_id: task.id, parent_id: undefined, attributes, user }
    const recorded = recordCalls(under)
    const outcome = await scoreAsCall(deps, { task, scorer, scored, recorded }, context).catch(permanently)
    signal.throwIfAborted()
    if (task.is_traced === 1) await deps.calls.writeParts(recorded.parts)
    if (outcome !== undefined) {
      const { id, trigger_ref: triggerRef } = task
      const callId = task.is_traced === 1 ? outcome.callId : undefined
      const said = scoreFeedback({
        id,
        project_id,
        scoredId: call.id,
        callId,
        scorer,
        output: outcome.output,
        triggerRef,
      })
      await deps.feedback.record([said], user)
    }
  }

  async function doTask(task: queries.ScoringTask, signal: AbortSignal): Promise<void> {
    try {
      await apply(task, signal)
    } catch (error) {
      if (signal.aborted) return
      const attempts = task.attempts + 1
      if (attempts < ATTEMPTS_MAX && isTemporary(error)) {
        const due_at = isoOfMicros((Date.now() + 2 ** attempts * 1000) * 1000)
        await queries.postponeTask(control, { id: task.id, attempts, due_at })
        return
      }
      log.warn(
        { call: task.call_id, scorer: task.scorer_ref, reason: messageOf(error) },
        'a call was not scored',
      )
    }
    await queries.deleteTask(control, task.id)
  }

  async function pass(signal: AbortSignal): Promise<string | undefined> {
    const tasks = await queries.dueTasks(control, { now: nowIso(), limit: TAKEN })
    await pMap(tasks, (task) => doTask(task, signal), { concurrency: AT_ONCE })
    return queries.nextDue(control)
  }

  return { kick: loop.kick, start: loop.start }
}

async function findCall(
  { calls }: ScoringDeps,
  { project_id, call_id }: queries.ScoringTask,
  context: CallContext,
): Promise<Call | undefined> {
  const filter = { call_ids: [call_id] }
  for await (const call of await calls.list({ project_id, filter }, context)) return call
  return undefined
}

/** What a call was asked with and put out; inputs that are refs, such as columns of a dataset, are what those lead to. */
async function scoredOf({ refs }: ScoringDeps, { project_id, inputs, output }: Call): Promise<Scored> {
  const named = refsAmong(inputs.text)
  const values = named.length === 0 ? new Map<string, JsonText>() : await refs.resolve(project_id, named)
  return { output: output?.value() ?? null, inputs: JSON.parse(withValues(inputs.text, values)) }
}

/** Scores as a call; resolves with what was said in it. */
function scoreAsCall(
  { ops, playground }: ScoringDeps,
  work: {
    task: queries.ScoringTask
    scorer: Scorer
    scored: Scored
    recorded: ReturnType<typeof recordCalls>
  },
  context: CallContext,
): Promise<{ callId: string | undefined; output: unknown }> {
  const { task, scorer, scored, recorded } = work
  const { project_id } = task
  const call = {
    op_name: ops.refOf(project_id, scorer.opName),
    inputs: { self: scorer.ref, ...scored },
    seed: 'score',
  }
  return recorded.call(call, async (own) => {
    const output = await scorer.score(scored, askAs({ playground, context, project_id }, own))
    return { result: { callId: own.id, output }, output }
  })
}

/** What a scorer refuses stands in its call, and is not tried again. @throws what may pass. */
function permanently(error: unknown): undefined {
  if (isTemporary(error)) throw error
  return undefined
}
