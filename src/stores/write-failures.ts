import { ClientError } from '../errors.ts'

/** Which store a failure is of, as `/health` names it. */
export type StoreName = 'trace_db' | 'control_db' | 'blobs'

/** Keeps the error of each store's last write, until a write succeeds. */
export interface WriteFailures {
  /** Runs a write. @throws what it throws. */
  watched<Result>(store: StoreName, write: () => Promise<Result>): Promise<Result>
  /** Records the result of a write; undefined where it succeeded. */
  note(store: StoreName, error: unknown): void
  /** The error of the last write; undefined where it succeeded, or there was none. */
  of(store: StoreName): string | undefined
}

export function createWriteFailures(): WriteFailures {
  const reasons = new Map<StoreName, string>()

  function note(store: StoreName, error: unknown): void {
    if (error === undefined) reasons.delete(store)
    // Without a cause, the write was refused before it reached the disk.
    else if (error instanceof ClientError && error.status === 503 && error.cause !== undefined)
      reasons.set(store, error.message)
  }

  return {
    note,
    of: (store) => reasons.get(store),
    async watched(store, write) {
      try {
        const result = await write()
        note(store, undefined)
        return result
      } catch (error) {
        note(store, error)
        throw error
      }
    },
  }
}
