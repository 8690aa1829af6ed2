import type { ControlTx } from '../stores/control-db/port.ts'
import type { Job, JobContext, JobEnd, JobKind, Requeue } from './job-kind.ts'
import type { JobRow } from './queries.ts'

/** After the tenth failure, attempts follow each other at this distance. */
const RETRY_MS_MAX = 1_024_000

/** A {@link JobKind} with its defaults, over rows of the table instead of typed payloads. */
export interface DefinedKind {
  kind: string
  concurrency: number
  entityConcurrency: number
  turnMs: number
  attemptsMax: number
  interruptionsMax: number
  order: 'by-time' | 'groups-in-turn'
  keeps: 'all' | 'failures'
  retryMs(attempt: number): number
  retries(error: unknown): boolean
  isOutage(error: unknown): boolean
  ready(signal: AbortSignal): Promise<void>
  isPaused(): boolean
  handle(row: JobRow, context: JobContext): Promise<void>
  giveUp(row: JobRow, end: JobEnd, context: Pick<JobContext, 'fence' | 'signal'>): Promise<void>
  requeued(tx: ControlTx, id: string, cause: Requeue): Promise<void>
}

export function defineKind<Payload>(kind: JobKind<Payload>): DefinedKind {
  const jobOf = ({ id, key_id, attempts, attempts_max }: JobRow, payload: Payload): Job<Payload> => ({
    id,
    payload,
    keyId: key_id,
    attempt: attempts,
    isLastAttempt: attempts >= attempts_max,
  })
  return {
    kind: kind.kind,
    concurrency: kind.concurrency,
    entityConcurrency: kind.entityConcurrency ?? kind.concurrency,
    turnMs: kind.turnMs ?? Number.POSITIVE_INFINITY,
    attemptsMax: kind.attemptsMax,
    interruptionsMax: kind.interruptionsMax ?? kind.attemptsMax,
    order: kind.order ?? 'by-time',
    keeps: kind.keeps ?? 'all',
    retryMs: kind.retryMs ?? ((attempt) => Math.min(2 ** attempt * 1000, RETRY_MS_MAX)),
    retries: kind.retries ?? (() => true),
    isOutage: kind.isOutage ?? (() => false),
    ready: kind.ready ?? (() => Promise.resolve()),
    isPaused: kind.isPaused ?? (() => false),
    handle: async (row, context) =>
      kind.handle(jobOf(row, kind.payload.parse(JSON.parse(row.payload))), context),
    async giveUp(row, end, context) {
      const payload = kind.payload.safeParse(JSON.parse(row.payload))
      // A payload that no handler can parse: the error is recorded in the row only.
      if (payload.success) await kind.giveUp(jobOf(row, payload.data), end, context)
    },
    requeued: async (tx, id, cause) => kind.requeued?.(tx, id, cause),
  }
}
