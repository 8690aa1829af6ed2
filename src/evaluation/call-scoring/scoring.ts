import pMap from 'p-map'
import { invalidRequest, messageOf } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { derivedId } from '../../ids.ts'
import type { Playground } from '../../inference/playground/service.ts'
import type { Log } from '../../log.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import { isoOfMicros, nowIso } from '../../time.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import type { PlaceholderOps } from '../../trace/objects/placeholder-ops.ts'
import { parseRef } from '../../trace/refs/ref-uri.ts'
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
import { targetOf } from './scored-target.ts'

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

  /**
   * @throws ClientError of 400 and above for what cannot be scored, of 429 and above for what can be tried again; at the last
   * attempt whatever is wrong stands in the scoring's call.
   */
  async function apply(task: queries.ScoringTask, signal: AbortSignal): Promise<Outcome | undefined> {
    const { project_id, user } = task
    const context = backgroundContext(task, signal)
    const target = await targetOf(deps, task, context)
    if (target === undefined) return undefined
    const scorer = await loadScorer(deps, { ref: task.scorer_ref, projectId: project_id })
    await deps.ops.publish(project_id, [scorer.opName], user)
    const { call, scored } = target
    const attributes = { weave: { scored_call: call.id, trigger_ref: task.trigger_ref ?? undefined } }
    const under = { project_id, base: task.id, trace_id: task.id, parent_id: undefined, attributes, user }
    const recorded = recordCalls(under)
    const outcome = await scoreAsCall(deps, { task, scorer, scored, recorded }, context).catch(
      (error: unknown) => {
        if (isTemporary(error) && !isLastAttempt(task)) throw error
        return { error: messageOf(error) }
      },
    )
    signal.throwIfAborted()
    if (task.is_traced === 1) await deps.calls.writeParts(recorded.parts)
    if ('error' in outcome) return outcome
    const callId = task.is_traced === 1 ? outcome.callId : undefined
    const said = scorer.said?.(outcome.output) ?? [{ ref: scorer.ref, output: outcome.output }]
    const feedback = said.map((one, index) =>
      scoreFeedback({
        id: index === 0 ? task.id : derivedId(task.id, `said/${index}`),
        project_id,
        scoredId: call.id,
        callId,
        said: one,
        turn: scored.turn,
        triggerRef: task.trigger_ref,
      }),
    )
    await deps.feedback.record(feedback, user)
    return {}
  }

  async function doTask(task: queries.ScoringTask, signal: AbortSignal): Promise<void> {
    let outcome: Outcome | undefined
    try {
      outcome = await apply(task, signal)
    } catch (error) {
      if (signal.aborted) return queries.forgetAttempt(control, task.id)
      if (!isLastAttempt(task) && isTemporary(error)) {
        const due_at = isoOfMicros((Date.now() + 2 ** (task.attempts + 1) * 1000) * 1000)
        await queries.postponeTask(control, { id: task.id, due_at })
        return
      }
      outcome = { error: messageOf(error) }
    }
    const reason = outcome?.error
    if (reason !== undefined)
      log.warn({ call: task.call_id, scorer: task.scorer_ref, reason }, 'a call was not scored')
    if (outcome !== undefined && task.trigger_ref !== null) {
      const { project_id } = task
      const object_id = parseRef(task.trigger_ref).name
      await queries.countRun(control, { project_id, object_id, error: reason ?? null })
    }
    await queries.deleteTask(control, task.id)
  }

  async function pass(signal: AbortSignal): Promise<string | undefined> {
    const tasks = await queries.dueTasks(control, { now: nowIso(), limit: TAKEN })
    await queries.countAttempts(
      control,
      tasks.map(({ id }) => id),
    )
    await pMap(tasks, (task) => doTask(task, signal), { concurrency: AT_ONCE })
    return queries.nextDue(control)
  }

  return { kick: loop.kick, start: loop.start }
}

/** What became of a task whose call is there. */
interface Outcome {
  /** Why it was not scored. */
  error?: string
}

function isLastAttempt({ attempts }: queries.ScoringTask): boolean {
  return attempts + 1 >= ATTEMPTS_MAX
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
  const { project_id, trigger_ref } = task
  const { call: _call, turn: _turn, ...shown } = scored
  const call = {
    op_name: ops.refOf(project_id, scorer.opName),
    inputs: { self: scorer.ref, ...shown },
    seed: 'score',
  }
  return recorded.call(call, async (own) => {
    if (task.attempts >= ATTEMPTS_MAX)
      throw invalidRequest(`Scoring was begun ${task.attempts} times, and the server ended each time`)
    const trigger = trigger_ref === null ? undefined : parseRef(trigger_ref)
    const output = await scorer.score(scored, {
      ask: askAs({ playground, context, project_id }, own),
      project_id,
      callId: own.id ?? task.id,
      traceId: task.id,
      monitor: trigger && { name: trigger.name, version_digest: String(trigger.version) },
      signal: context.signal,
    })
    return { result: { callId: own.id, output }, output }
  })
}
