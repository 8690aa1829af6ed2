/** What resources offer for removing their data for good; `retention/` decides when. Each method may be repeated. */

import type { ControlTx } from './stores/control-db/port.ts'

/** How much there is of one kind of data, in receipts. */
export interface Amount {
  /** Such as `calls`. */
  kind: string
  count: number
  /** As the resource counts them; 0 where it does not. */
  bytes: number
}

/** A user whose data is erased, and the name that stands in what has to stay. */
export interface ErasedUser {
  name: string
  pseudonym: string
}

/** Data of some projects that is older than a time. */
export interface Cutoff {
  projectIds: readonly string[]
  /** ISO 8601. */
  before: string
}

/** The kinds of data that a project may keep for a number of days. */
export const RETAINED_KINDS = [
  'payloads',
  'calls',
  'files',
  'trajectories',
  'run_metrics',
  'run_logs',
] as const
export type RetainedKind = (typeof RETAINED_KINDS)[number]

/** What one resource can remove. Resolves once its rows and blobs are deleted; files of the trace database go later. */
export interface Removal {
  /** What there is of some projects, given by their ids `entity/project`. */
  countProjects?(projectIds: readonly string[]): Promise<Amount[]>
  eraseProjects?(projectIds: readonly string[], signal: AbortSignal): Promise<void>
  /** What belongs to an entity and to none of its projects. */
  eraseEntity?(entity: string, signal: AbortSignal): Promise<void>
  /** What a user has written that is erased with the user, besides what is in these projects. */
  countUser?(user: ErasedUser, besides: readonly string[]): Promise<Amount[]>
  /** Makes it unreadable, which takes seconds; {@link eraseUser} removes it. */
  hideUser?(user: ErasedUser, signal: AbortSignal): Promise<void>
  eraseUser?(user: ErasedUser, signal: AbortSignal): Promise<void>
  /** Puts the pseudonym where the user's name has to stay. */
  renameUser?(user: ErasedUser, signal: AbortSignal): Promise<void>
  /**
   * Deletes the rows by which the names of an entity and a user are taken, in the transaction that ends their erasure.
   * An erasure finds them by name, so no other may have the name while the erasure can still be repeated. @returns what
   * to do after the commit
   */
  freeNames?(tx: ControlTx, names: { entity?: string; user?: ErasedUser }): Promise<() => Promise<void>>
  /** Removes what is older than the cutoffs of its projects, by kind. */
  expire?: Partial<Record<RetainedKind, (cutoffs: readonly Cutoff[], signal: AbortSignal) => Promise<void>>>
  /**
   * Removes from the disk what clients deleted, where some of it was deleted before a time. What it finds out then is
   * complete: all that was deleted until now goes with it.
   */
  purge?(before: string, signal: AbortSignal): Promise<void>
}
