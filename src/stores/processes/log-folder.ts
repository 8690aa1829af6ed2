import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  type WriteStream,
} from 'node:fs'
import { join } from 'node:path'

/** Output lines kept for error messages and status pages. */
const LINES_KEPT = 40

/** Characters kept of one line: a stack trace line fits, a dumped tensor does not. */
const LINE_CHARS_MAX = 500

/** A log file above this starts anew; one older file is kept, so a child uses twice this on disk at most. */
export const LOG_BYTES_MAX = 8 * 1024 * 1024

/** Logs that are kept: every base model that was ever tried has two, and most come from mistyped names. */
const LOGS_MAX = 32

/** A log whose file could not be written, as on a full disk, is opened again after this. */
const RETRY_MS = 1_000

/** Suffix of the older file of a log. */
const OLDER = '.1'

/** The name of a log or of its older file. */
export const LOG_NAME = /^[\w.-]+\.log(\.1)?$/

/** Where the engine's programs log, below the data folder. */
export function engineLogsFolder(dataFolder: string): string {
  return join(dataFolder, 'engine/logs')
}

/** The log of one child. */
export interface ChildLog {
  add(line: string): void
  /** How many lines were added. */
  lineCount(): number
  /** The newest lines, of those that came after the first `after`. */
  lastLines(after?: number): string[]
  close(): void
}

/** A folder with a log for each program; the most recently written ones are kept. */
export interface LogFolder {
  /** Continues the log of a program; `name` ends in `.log`. */
  open(name: string): ChildLog
}

export function createLogFolder(folder: string): LogFolder {
  /** How many children write to each log. */
  const inUse = new Map<string, number>()

  /** Makes room for one more log; logs in use stay, whatever their age. */
  function removeOldest(): void {
    const closed = readdirSync(folder).filter((name) => name.endsWith('.log') && !inUse.has(name))
    const dated = closed.map((name) => ({ name, changedMs: statSync(join(folder, name)).mtimeMs }))
    const kept = Math.max(0, LOGS_MAX - inUse.size)
    for (const { name } of dated.sort((a, b) => b.changedMs - a.changedMs).slice(kept)) {
      rmSync(join(folder, name), { force: true })
      rmSync(join(folder, name + OLDER), { force: true })
    }
  }

  function open(name: string): ChildLog {
    mkdirSync(folder, { recursive: true })
    inUse.set(name, (inUse.get(name) ?? 0) + 1)
    removeOldest()
    return createChildLog(join(folder, name), () => {
      const others = (inUse.get(name) ?? 1) - 1
      if (others === 0) inUse.delete(name)
      else inUse.set(name, others)
    })
  }

  return { open }
}

/** Keeps the newest lines in memory and all of a bounded amount in a file. */
function createChildLog(path: string, onClose: () => void): ChildLog {
  const lines: string[] = []
  let lineCount = 0
  let bytes = existsSync(path) ? statSync(path).size : 0
  let failedAt: number | undefined
  let file = append()

  function append(): WriteStream {
    const stream = createWriteStream(path, { flags: 'a' })
    // The log is best effort: a full disk must not end the child. Nothing is written by a stream that has failed.
    stream.on('error', () => {
      if (stream === file) failedAt = performance.now()
    })
    return stream
  }

  function openAgain(): void {
    failedAt = undefined
    file = append()
  }

  function rotate(): void {
    file.end()
    // A file that someone has deleted still takes space on the disk until it is closed.
    if (existsSync(path)) renameSync(path, path + OLDER)
    file = append()
    bytes = 0
  }

  return {
    add(raw) {
      const line = raw.length > LINE_CHARS_MAX ? `${raw.slice(0, LINE_CHARS_MAX)}…` : raw
      lines.push(line)
      lineCount++
      if (lines.length > LINES_KEPT) lines.shift()
      const text = `${new Date().toISOString()} ${line}\n`
      if (failedAt !== undefined) {
        if (performance.now() - failedAt < RETRY_MS) return
        openAgain()
      }
      if (bytes > LOG_BYTES_MAX) rotate()
      bytes += Buffer.byteLength(text)
      file.write(text)
    },
    lineCount: () => lineCount,
    lastLines: (after = 0) => lines.slice(Math.max(0, after - (lineCount - lines.length))),
    close() {
      file.end()
      onClose()
    },
  }
}
