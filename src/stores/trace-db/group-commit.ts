import { unavailable } from '../../errors.ts'

/** Bytes of encoded rows that may wait for one table before further writers are told to come back. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024

/** Bytes of encoded rows committed at once: large enough to amortise an fsync, small enough to bound memory. */
const COMMIT_BYTES_MAX = 32 * 1024 * 1024

interface Waiting {
  lines: string
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * Group commit: while one commit runs, later writers wait together and share the next. A commit costs an fsync,
 * so a hundred concurrent writers pay for one, and each still hears only after its rows are on disk.
 */
export function createGroupCommit(commit: (lines: string) => Promise<void>): {
  write: (lines: string) => Promise<void>
  drained: () => Promise<void>
} {
  const waiting: Waiting[] = []
  let waitingBytes = 0
  let running: Promise<void> | undefined

  function takeGroup(): Waiting[] {
    let bytes = 0
    let count = 0
    while (count < waiting.length && (count === 0 || bytes < COMMIT_BYTES_MAX)) {
      bytes += waiting[count]?.lines.length ?? 0
      count++
    }
    waitingBytes -= bytes
    return waiting.splice(0, count)
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) await commitGroup(takeGroup(), commit)
    running = undefined
  }

  return {
    write(lines) {
      if (waitingBytes + lines.length > WAITING_BYTES_MAX && waiting.length > 0) {
        return Promise.reject(unavailable('Too many writes are waiting for the disk', 2))
      }
      return new Promise<void>((resolve, reject) => {
        waiting.push({ lines, resolve, reject })
        waitingBytes += lines.length
        running ??= run()
      })
    },
    async drained() {
      await running
    },
  }
}

/** A group that fails is retried writer by writer, so that one bad row does not fail its neighbours. */
async function commitGroup(group: Waiting[], commit: (lines: string) => Promise<void>): Promise<void> {
  try {
    await commit(group.map((writer) => writer.lines).join(''))
    for (const writer of group) writer.resolve()
  } catch (error) {
    if (group.length === 1) {
      group[0]?.reject(error)
      return
    }
    for (const writer of group) await commitGroup([writer], commit)
  }
}
