import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { messageOf } from '../../errors.ts'
import type { LogFolder } from './log-folder.ts'

/** A child that was asked to end gets this long before it is killed; the server's whole stop must fit 10 s. */
const TERM_MS = 2_000

/** A program with its complete environment. */
export interface ChildSpec {
  command: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  cwd: string
  /** Its stderr goes here (and its stdout, where that carries no messages), bounded. */
  logs: LogFolder
  /** The name of its log there. */
  logName: string
  /** `lines`: stdout carries messages, one a line, for `onLine`. */
  stdout: 'lines' | 'log'
}

/** A running process that leads a group of its own, so that whatever it starts ends with it. */
export interface Child {
  pid: number
  /** Writes to its stdin; silently dropped once it has ended. */
  write(text: string): void
  /** Passes on every further line of stdout; returns a function that ends that. */
  onLine(listener: (line: string) => void): () => void
  /** How many lines of its output have been read. */
  lineCount(): number
  /** The newest lines of its output, of those that came after the first `after`. */
  lastLines(after?: number): string[]
  /** False from the moment it has ended, which is before the rest of its output has been read. */
  isAlive(): boolean
  /** Milliseconds since it last wrote anything. */
  silentMs(): number
  /** Resolves with the exit code or signal. */
  exited: Promise<string>
  /** Ends the process group: with SIGKILL, or first with SIGTERM. */
  kill(how: 'at-once' | 'politely'): Promise<void>
}

/** Starts a program. A program that cannot be started shows in `exited`. */
export function startChild(spec: ChildSpec): Child {
  const output = spec.logs.open(spec.logName)
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let lastWriteAt = performance.now()
  const noteOutput = (): void => {
    lastWriteAt = performance.now()
  }
  child.stdout.on('data', noteOutput)
  child.stderr.on('data', noteOutput)
  const listeners = new Set<(line: string) => void>()
  eachLine(child.stderr, output.add)
  eachLine(child.stdout, (line) => {
    if (spec.stdout === 'log') output.add(line)
    else for (const listener of listeners) listener(line)
  })
  // A pipe whose reader has died answers EPIPE; `exited` reports the end.
  child.stdin.on('error', () => {})

  const exited = exitOf(child).then((reason) => {
    output.add(`— ended: ${reason}`)
    output.close()
    killGroup(child.pid, 'SIGKILL')
    return reason
  })

  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null

  return {
    pid: child.pid ?? 0,
    write(text) {
      if (isAlive()) child.stdin.write(text)
    },
    onLine(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    lineCount: output.lineCount,
    lastLines: output.lastLines,
    isAlive,
    silentMs: () => performance.now() - lastWriteAt,
    exited,
    async kill(how) {
      if (how === 'politely') {
        child.stdin.end()
        killGroup(child.pid, 'SIGTERM')
        const timer = setTimeout(() => killGroup(child.pid, 'SIGKILL'), TERM_MS)
        await exited
        clearTimeout(timer)
      } else {
        killGroup(child.pid, 'SIGKILL')
        await exited
      }
    },
  }
}

function exitOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started (${messageOf(error)})`))
    // 'close' rather than 'exit': all of stderr has been read by then. A grandchild may hold the pipes open for ever,
    // so 'exit' ends the group first.
    child.once('exit', () => killGroup(child.pid, 'SIGKILL'))
    child.once('close', (code, signal) =>
      resolve(signal === null ? `exit code ${code}` : `killed by ${signal}`),
    )
  })
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // ESRCH: the group is already gone.
  }
}

/**
 * Where a line of a program ends: also at a carriage return alone, with which progress is written over. Not where
 * `readline` ends one besides (U+2028, U+2029): JSON may have these within a text.
 */
const LINE_END = /\r\n|[\r\n]/

/** Longer lines are passed on in pieces: a program that never ends one would fill the memory. */
const LINE_CHARS_MAX = 64 * 1024 * 1024

/** Passes on each line of a stream, without its end. */
export function eachLine(stream: Readable, listener: (line: string) => void): void {
  const decoder = new StringDecoder()
  let held = ''
  /** A carriage return whose line feed may follow. */
  let carriageReturn = ''
  stream.on('data', (chunk: Buffer) => {
    const text = carriageReturn + decoder.write(chunk)
    carriageReturn = text.endsWith('\r') ? '\r' : ''
    const [first = '', ...more] = text.slice(0, text.length - carriageReturn.length).split(LINE_END)
    held += first
    for (const next of more) {
      listener(held)
      held = next
    }
    if (held.length <= LINE_CHARS_MAX) return
    listener(held)
    held = ''
  })
  stream.once('end', () => {
    if (held !== '') listener(held)
  })
}
