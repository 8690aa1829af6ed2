import type { z } from 'zod'
import type { ControlTx } from '../stores/control-db/port.ts'

/** One attempt at a job, as its handler sees it. */
export interface Job<Payload> {
  id: string
  payload: Payload
  /** The key that asked for it; empty where none did, or it was not recorded. */
  keyId: string
  /** Counts from 1. */
  attempt: number
  /** Whether the job fails for good if this attempt does. */
  isLastAttempt: boolean
}

/** What an attempt can do while it holds the job's lease. */
export interface JobContext {
  /** Aborted with a {@link JobCancelled}, {@link LeaseLost} or {@link ServerStopping} as its reason. */
  signal: AbortSignal
  /** Reports the progress of the job; the newest report is in the job's row within a second. */
  progress(value: object): void
  /**
   * Aborted with a {@link TurnEnded} where the kind has turns, this attempt has had its own, and another entity waits:
   * the handler ends what would be lost, and throws the reason.
   */
  turn: AbortSignal
  /** Makes a transaction depend on the lease. @throws LeaseLost when another server may have taken the job. */
  fence(tx: ControlTx): Promise<void>
  /** Counts this attempt as the first, in a transaction that records what earlier ones have not come to. */
  countAnew(tx: ControlTx): Promise<void>
}

/** How a job ended without having been done. */
export interface JobEnd {
  /**
   * `failed`: its last attempt threw. `interrupted`: servers ended during all of its attempts, or as many as its kind
   * allows.
   */
  why: 'failed' | 'interrupted' | 'cancelled'
  reason: string
  /** What the last attempt threw. */
  error?: unknown
}

/** Why a job waits again after an attempt at it. */
export interface Requeue {
  /**
   * `failed`: the attempt threw. `outage`: it threw a `StoreFailed`, or what the kind calls an outage, and the job is
   * tried again until that has ended. `interrupted`: its server ended. `stopped`: its server was stopped. `turn-ended`:
   * others have their turn.
   */
  why: 'failed' | 'outage' | 'interrupted' | 'stopped' | 'turn-ended'
  reason: string
  /** Attempts that count. */
  attempts: number
}

/**
 * A kind of durable work and what does it. An attempt may be cut off at any point and another server may repeat it, so
 * that `handle` and `giveUp` must come to the same when they are run again.
 */
export interface JobKind<Payload> {
  kind: string
  payload: z.ZodType<Payload>
  /** Jobs of this kind that one server runs at once. */
  concurrency: number
  /**
   * Those of them that one entity may have: fewer than all leave the others to other entities, however long its own
   * take. Otherwise all. Only of a kind whose jobs are taken by time.
   */
  entityConcurrency?: number
  /**
   * Milliseconds after which an attempt is asked to end where an entity with fewer attempts has due jobs and all slots
   * here are taken; otherwise an attempt lasts as long as it takes. Only of a kind whose jobs are taken by time.
   */
  turnMs?: number
  /**
   * Attempts, those included during which a server ended; an attempt that a clean stop, an outage or the end of its
   * turn interrupts does not count, and one that counts anew makes those before it forgotten.
   */
  attemptsMax: number
  /**
   * Attempts during which a server ended, after which no other one follows: the job itself may be what ends servers.
   * Otherwise as many as all attempts.
   */
  interruptionsMax?: number
  /**
   * Entities take turns. Within each, `by-time`: what has been due longest goes first. `groups-in-turn`: the jobs of a
   * group run one after the other on all servers together, in the order in which they were added, and the group that
   * has waited longest since its last job goes first.
   */
  order?: 'by-time' | 'groups-in-turn'
  /**
   * Finished jobs that stay for a day: all, or only those that were not done; of many small jobs the completed ones are
   * of no interest.
   */
  keeps?: 'all' | 'failures'
  /** Milliseconds before the attempt after this one; otherwise 2, 4, 8 … s. */
  retryMs?: (attempt: number) => number
  /** Whether another attempt may succeed; otherwise always. */
  retries?: (error: unknown) => boolean
  /**
   * Whether an error other than a `StoreFailed` is no fault of the job: the attempt does not count; otherwise none is.
   */
  isOutage?: (error: unknown) => boolean
  /** Resolves once this server can run jobs of this kind; otherwise it can at once. */
  ready?: (signal: AbortSignal) => Promise<void>
  /**
   * Whether this server leaves jobs of this kind to others for now; those that are to be given up it takes all the
   * same.
   */
  isPaused?: () => boolean
  /** Does the job. @throws what went wrong, or the signal's reason. */
  handle(job: Job<Payload>, context: JobContext): Promise<void>
  /** Records that the job ends without having been done; tried again until it succeeds, or the server stops. */
  giveUp(job: Job<Payload>, end: JobEnd, context: Pick<JobContext, 'fence' | 'signal'>): Promise<void>
  /** Records that the job waits for another attempt, in the transaction that makes it wait. */
  requeued?(tx: ControlTx, id: string, cause: Requeue): Promise<void>
}

/** A job to be added. */
export interface NewJob<Payload> {
  id: string
  payload: Payload
  /** ISO 8601; at once where absent. */
  runAt?: string
  /** Whose work it is; entities take turns. */
  entity?: string
  /** The key that asked for it. */
  keyId?: string
  /** Of the waiting jobs of a kind, only one has this key. */
  singletonKey?: string | null
  group?: string | null
  concurrencyKey?: string | null
}

/** The job was asked to end early; the message is the reason that was given. */
export class JobCancelled extends Error {}

/** The lease has passed to another server, which does the job from here on. */
export class LeaseLost extends Error {}

/** The attempt has had its turn; the job waits for the next one. */
export class TurnEnded extends Error {}

/** This server stops; the job continues here or elsewhere, and the attempt does not count. */
export class ServerStopping extends Error {}
