import { setTimeout as delay } from 'node:timers/promises'
import { messageOf, StoreFailed } from '../errors.ts'
import type { Log } from '../log.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import { errorTypeOf, type Span, type Telemetry } from '../telemetry.ts'
import { isoIn } from '../time.ts'
import type { DefinedKind } from './defined-kind.ts'
import {
  JobCancelled,
  type JobContext,
  type JobEnd,
  LeaseLost,
  type Requeue,
  ServerStopping,
  TurnEnded,
} from './job-kind.ts'
import * as leaseQueries from './lease-queries.ts'
import { createProgressWriter } from './progress-writer.ts'
import type { JobRow } from './queries.ts'

/** Delay between attempts to record an outcome, while the disk is full or the database cannot be written. */
const RECORD_RETRY_MS = 2_000

/** Delay before another attempt after one that an outage ended. */
const OUTAGE_RETRY_MS = 5_000

const ENDED_TOO_OFTEN = 'Given up, since the server ended too often while this was in progress'

export interface AttemptDeps {
  control: ControlDb
  log: Log
  telemetry: Telemetry
}

/** The outcome of an attempt. */
type Outcome =
  | { kind: 'completed' }
  | { kind: 'ended'; end: JobEnd }
  | { kind: 'retry' | 'outage'; reason: string; error: unknown }
  | { kind: 'stopped' }
  | { kind: 'turn ended' }
  | { kind: 'lease lost' }

/** Runs one attempt at a leased job and records the outcome. Never rejects for what the handler throws. */
export function runAttempt(
  deps: AttemptDeps,
  attempt: { kind: DefinedKind; row: JobRow },
  signals: { abort: AbortSignal; turn: AbortSignal; stopping: AbortSignal },
): Promise<void> {
  const { kind, id, attempts, entity } = attempt.row
  const start = {
    name: `job ${kind}`,
    kind: 'consumer' as const,
    attributes: {
      'heddle.job.kind': kind,
      'heddle.job.id': id,
      'heddle.job.attempt': attempts,
      'heddle.entity': entity === '' ? undefined : entity,
    },
  }
  return deps.telemetry.root(start, (span) => attemptWithin(span, deps, attempt, signals))
}

async function attemptWithin(
  span: Span,
  { control, log }: AttemptDeps,
  { kind, row }: { kind: DefinedKind; row: JobRow },
  { abort: signal, turn, stopping }: { abort: AbortSignal; turn: AbortSignal; stopping: AbortSignal },
): Promise<void> {
  const fence: JobContext['fence'] = async (tx) => {
    if (!(await leaseQueries.touchLease(tx, row))) throw new LeaseLost('The lease of the job was lost')
  }
  const progress = createProgressWriter((text) => leaseQueries.setProgress(control, row, text))
  let { attempts } = row
  const countAnew: JobContext['countAnew'] = async (tx) => {
    await leaseQueries.countAnew(tx, row)
    attempts = 1
  }
  const context = { signal, turn, progress: progress.report, fence, countAnew }
  const outcome = await outcomeOf(kind, row, { context, attempts: () => attempts })
  await progress.stop()
  span.set({ 'heddle.job.outcome': outcome.kind === 'ended' ? outcome.end.why : outcome.kind })
  const failure =
    'error' in outcome ? outcome.error : outcome.kind === 'ended' ? outcome.end.error : undefined
  if (failure !== undefined) span.fail(errorTypeOf(failure))
  const requeue = (cause: Requeue, run_at: string): Promise<void> =>
    control.transaction().execute(async (tx) => {
      const next = { run_at, attempts: cause.attempts, last_error: cause.reason }
      if (await leaseQueries.releaseJob(tx, row, next)) await kind.requeued(tx, row.id, cause)
    })
  const record = async (): Promise<void> => {
    switch (outcome.kind) {
      case 'completed':
        if (kind.keeps === 'failures') await leaseQueries.removeJob(control, row)
        else await leaseQueries.finishJob(control, row, { state: 'completed', last_error: null })
        return
      case 'ended': {
        const { why, reason } = outcome.end
        // A job whose project was erased since has no lease any more, and writes nothing to a new project of the same
        // name.
        await control.transaction().execute(fence)
        await kind.giveUp(row, outcome.end, { fence, signal: stopping })
        const state = why === 'cancelled' ? 'cancelled' : 'failed'
        await leaseQueries.finishJob(control, row, { state, last_error: reason })
        return
      }
      case 'retry': {
        const cause = { why: 'failed' as const, reason: outcome.reason, attempts }
        return requeue(cause, isoIn(kind.retryMs(attempts)))
      }
      case 'outage': {
        const cause = { why: 'outage' as const, reason: outcome.reason, attempts: attempts - 1 }
        return requeue(cause, isoIn(OUTAGE_RETRY_MS))
      }
      case 'stopped': {
        const reason = 'The server was stopped'
        return requeue({ why: 'stopped', reason, attempts: attempts - 1 }, row.run_at)
      }
      case 'turn ended': {
        const reason = 'Others had their turn'
        return requeue({ why: 'turn-ended', reason, attempts: attempts - 1 }, isoIn(0))
      }
      case 'lease lost':
        log.warn({ kind: row.kind, job: row.id }, 'a job has passed to another server')
    }
  }
  await untilRecorded(record, { log, row, stopping })
}

async function outcomeOf(
  kind: DefinedKind,
  row: JobRow,
  { context, attempts }: { context: JobContext; attempts: () => number },
): Promise<Outcome> {
  const { cancel_reason, attempts_max } = row
  if (cancel_reason !== null) return ended('cancelled', cancel_reason)
  if (attempts() > attempts_max) return ended('interrupted', ENDED_TOO_OFTEN)
  const { signal } = context
  try {
    await kind.handle(row, context)
    return { kind: 'completed' }
  } catch (error) {
    const reason: unknown = signal.aborted ? signal.reason : error
    if (reason instanceof JobCancelled) return ended('cancelled', reason.message)
    if (reason instanceof ServerStopping) return { kind: 'stopped' }
    if (reason instanceof LeaseLost || error instanceof LeaseLost) return { kind: 'lease lost' }
    if (error instanceof TurnEnded) return { kind: 'turn ended' }
    if (error instanceof StoreFailed || kind.isOutage(error))
      return { kind: 'outage', reason: messageOf(error), error }
    if (attempts() >= attempts_max || !kind.retries(error))
      return { kind: 'ended', end: { why: 'failed', reason: messageOf(error), error } }
    return { kind: 'retry', reason: messageOf(error), error }
  }
}

function ended(why: JobEnd['why'], reason: string): Outcome {
  return { kind: 'ended', end: { why, reason } }
}

/** When the server stops meanwhile, the lease of the job expires. */
async function untilRecorded(
  record: () => Promise<void>,
  { log, row, stopping }: { log: Log; row: JobRow; stopping: AbortSignal },
): Promise<void> {
  for (;;) {
    try {
      await record()
      return
    } catch (error) {
      if (error instanceof LeaseLost) return
      log.error({ err: error, kind: row.kind, job: row.id }, 'what became of a job could not be written yet')
      if (stopping.aborted) return
      await delay(RECORD_RETRY_MS, undefined, { signal: stopping, ref: false }).catch(() => {})
    }
  }
}
