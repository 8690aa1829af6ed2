import { connect, type Socket } from 'node:net'
import { z } from 'zod'
import { messageOf } from '../../../errors.ts'

/** The other side is engine/src/engine/remote.py, and these are its numbers. */
const HEADER_BYTES = 5
const FRAME_BYTES_MAX = 1024 ** 2
const BEAT_MS = 5_000
export const SILENCE_MS_MAX = 20_000

/** Within a cluster a connection takes milliseconds; a firewall that drops packets is found out by this. */
const CONNECT_MS_MAX = 10_000

/** Characters of a bad message that errors quote. */
const WORDS_MAX = 100

/** Kinds of frames, of one letter each. */
const FRAMES = {
  key: 'k',
  start: 's',
  input: 'i',
  stop: 't',
  kill: 'q',
  beat: 'b',
} as const

const Hello = z.object({ host: z.string(), port: z.number(), package: z.string() })
const End = z.object({ how: z.string() })

/** Where a program is to run. */
export type NodePlace = z.output<typeof Hello>

/** What a node runs. */
export interface NodeStart {
  /** What follows `python`. */
  args: readonly string[]
  /** Beside what the node has. */
  env: Record<string, string>
  /** The root of the workspace as nodes see it, which becomes the working directory; absent where it is in a bucket. */
  workspace?: string
  /** What a file in it says, so that no other folder is taken for it. */
  marker?: string
}

/** What a node sends, from the start on. */
export interface NodeListener {
  onOutput(stream: 'stdout' | 'stderr', bytes: Buffer): void
  /** Called once: with how the program ended, or why the connection was lost. */
  onEnd(end: { how: string; isLost: boolean }): void
}

/** A connection to a program that waits to be started on a node. */
export interface NodeConnection {
  place: NodePlace
  start(start: NodeStart, listener: NodeListener): void
  send(kind: 'input' | 'stop' | 'kill', body?: string): void
  /** Ends the connection, and so the program, as soon as the node notices. */
  close(reason: string): void
}

/**
 * Connects to a node and presents the key of the job. The signal ends it only until it is connected.
 * @throws Error that names the address; the signal's reason
 */
export async function connectToNode(
  { host, port, key }: { host: string; port: number; key: string },
  signal: AbortSignal,
): Promise<NodeConnection> {
  const socket = connect({ host, port, noDelay: true })
  let listener: NodeListener | undefined
  let lastHeardAt = performance.now()
  let onHello: (place: NodePlace) => void = () => {}
  let onEnd = (end: { how: string; isLost: boolean }): void => listener?.onEnd(end)

  function end(how: string, isLost = true): void {
    clearInterval(beats)
    const report = onEnd
    onEnd = () => {}
    socket.destroy()
    report({ how, isLost })
  }
  function send(kind: keyof typeof FRAMES, body = ''): void {
    const bytes = Buffer.from(body)
    for (let at = 0; at === 0 || at < bytes.length; at += FRAME_BYTES_MAX)
      if (socket.writable) socket.write(frame(FRAMES[kind], bytes.subarray(at, at + FRAME_BYTES_MAX)))
  }
  function take(kind: string, body: Buffer): void {
    if (kind === 'h') onHello(messageIn(body, Hello))
    if (kind === 'o') listener?.onOutput('stdout', body)
    if (kind === 'e') listener?.onOutput('stderr', body)
    if (kind === 'x') end(messageIn(body, End).how, false)
  }
  const beats = setInterval(() => {
    const silentMs = performance.now() - lastHeardAt
    if (silentMs > SILENCE_MS_MAX) end(`nothing was heard of the node for ${SILENCE_MS_MAX / 1000} s`)
    else send('beat')
  }, BEAT_MS)
  readFrames(socket, {
    onFrame: take,
    onBytes() {
      lastHeardAt = performance.now()
    },
    onEnd: (reason) => end(`the connection to the node broke (${reason})`),
  })
  socket.once('connect', () => send('key', key))
  const place = await new Promise<NodePlace>((resolve, reject) => {
    const refuse = (reason: string): void =>
      reject(new Error(`cannot use ${host}:${port}, where Ray started the program: ${reason}`))
    const timer = setTimeout(() => end(`no answer within ${CONNECT_MS_MAX / 1000} s`), CONNECT_MS_MAX)
    const stop = (): void => end('it is no longer wanted')
    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
    onHello = (found) => {
      settle()
      onEnd = (end) => listener?.onEnd(end)
      resolve(found)
    }
    onEnd = ({ how }) => {
      settle()
      if (signal.aborted) reject(signal.reason)
      else refuse(how)
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  return {
    place,
    send,
    close: end,
    start(start, by) {
      listener = by
      send('start', JSON.stringify(start))
    },
  }
}

/** @throws Error with what came instead */
function messageIn<Schema extends z.ZodType>(body: Buffer, schema: Schema): z.output<Schema> {
  const text = body.toString()
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw new Error(`it sent what is no message: ${text.slice(0, WORDS_MAX)}`, { cause: error })
  }
}

interface FrameListener {
  onFrame(kind: string, body: Buffer): void
  onBytes(): void
  onEnd(reason: string): void
}

/** Reads frames until the connection ends or what comes is none. */
function readFrames(socket: Socket, { onFrame, onBytes, onEnd }: FrameListener): void {
  let held: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    onBytes()
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    try {
      while (held.length >= HEADER_BYTES) {
        const length = held.readUInt32BE(1)
        if (length > FRAME_BYTES_MAX) throw new Error(`it sent a frame of ${length} bytes`)
        if (held.length < HEADER_BYTES + length) return
        const kind = held.toString('latin1', 0, 1)
        const body = held.subarray(HEADER_BYTES, HEADER_BYTES + length)
        held = held.subarray(HEADER_BYTES + length)
        onFrame(kind, body)
      }
    } catch (error) {
      onEnd(messageOf(error))
    }
  })
  socket.on('error', (error) => onEnd(messageOf(error)))
  socket.on('close', () => onEnd('it was closed'))
}

function frame(kind: string, body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(kind, 'latin1')
  header.writeUInt32BE(body.length, 1)
  return Buffer.concat([header, body])
}
