/** Between two writes of one job's progress: a write is a commit, and pages poll no faster. */
const WRITE_EVERY_MS = 1_000

export interface ProgressWriter {
  /** Keeps a report, which is written soon unless a newer one comes first. */
  report(value: object): void
  /** Writes nothing more; resolves when a write under way has ended. */
  stop(): Promise<void>
}

/** Passes the newest of many reports on, as JSON. A report that cannot be written is dropped. */
export function createProgressWriter(write: (text: string) => Promise<void>): ProgressWriter {
  let newest = ''
  let writtenAt = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function writeNewest(): void {
    timer = undefined
    writtenAt = Date.now()
    writing = writing.then(() => write(newest)).catch(() => undefined)
  }

  return {
    report(value) {
      newest = JSON.stringify(value)
      timer ??= setTimeout(writeNewest, Math.max(0, writtenAt + WRITE_EVERY_MS - Date.now())).unref()
    },
    stop() {
      clearTimeout(timer)
      return writing
    },
  }
}
