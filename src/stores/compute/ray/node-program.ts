import { PassThrough } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { eachLine } from '../../processes/child.ts'
import type { LogFolder } from '../../processes/log-folder.ts'
import type { Program } from '../program.ts'
import type { NodeConnection, NodeStart } from './connection.ts'

/** The node kills a program two seconds after it was asked to end; the server's whole stop must fit 10 s. */
const STOP_MS_MAX = 3_000

/** A node that was told to kill the program answers at once, if it answers at all. */
const KILL_MS_MAX = 3_000

export interface NodeProgramOptions {
  /** For people. */
  place: string
  logs: LogFolder
  logName: string
  /** `lines`: stdout carries messages. */
  stdout: 'lines' | 'log'
  /** Resolves once the program cannot run any more although its connection is lost, with what else is known. */
  whenLost: () => Promise<string>
}

/** Starts a program at the other end of a connection. */
export function startOnNode(
  connection: NodeConnection,
  start: NodeStart,
  { place, logs, logName, stdout, whenLost }: NodeProgramOptions,
): Program {
  const output = logs.open(logName)
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() }
  const listeners = new Set<(line: string) => void>()
  let lastWriteAt = performance.now()
  let isAlive = true
  let isStopping = false
  eachLine(streams.stderr, output.add)
  eachLine(streams.stdout, (line) => {
    if (stdout === 'log') output.add(line)
    else for (const listener of listeners) listener(line)
  })

  const exited = new Promise<string>((resolve) => {
    connection.start(start, {
      onOutput(stream, bytes) {
        lastWriteAt = performance.now()
        // Its reader takes all that comes at once.
        streams[stream].write(bytes)
      },
      async onEnd({ how, isLost }) {
        isAlive = false
        // Lines are passed on in a later turn than their bytes.
        await Promise.all(Object.values(streams).map(ended))
        const more = isLost && !isStopping ? await whenLost() : ''
        const reason = more === '' ? how : `${how}; ${more}`
        output.add(`— ended: ${reason}`)
        output.close()
        resolve(reason)
      },
    })
  })

  return {
    place,
    write(text) {
      if (isAlive) connection.send('input', text)
    },
    onLine(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    lineCount: output.lineCount,
    lastLines: output.lastLines,
    isAlive: () => isAlive,
    silentMs: () => performance.now() - lastWriteAt,
    exited,
    async kill(how) {
      isStopping ||= how === 'politely'
      connection.send(how === 'politely' ? 'stop' : 'kill')
      const wait = how === 'politely' ? STOP_MS_MAX : KILL_MS_MAX
      await Promise.race([exited, delay(wait, undefined, { ref: false })])
      connection.close('the node did not end it')
      await exited
    },
  }
}

function ended(stream: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.end()
  })
}
