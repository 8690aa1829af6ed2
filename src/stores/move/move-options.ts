/** One of the stores that are moved, as health checks name them. */
export type MovedStore = 'trace_db' | 'control_db' | 'blobs'

/** How far a move is. */
export interface MoveProgress {
  store: MovedStore
  /** The table, or the kind of blobs. */
  what: string
  /** Rows or blobs of it that are copied and compared. */
  done: number
}

/** Data that the target does not take as it is: the same move would fail again. */
export class MoveRefused extends Error {}

export interface MoveOptions {
  onProgress(progress: MoveProgress): void
  signal: AbortSignal
}
