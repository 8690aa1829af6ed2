/** The memory of a Node process, read through its inspector. */
import { z } from 'zod'

/** An inspector that was opened. */
export interface Inspector {
  /** MiB of the process and of its heap, of what is reachable: without what a later collection would free. */
  read(): Promise<{ rss: number; heap: number }>
  close(): void
}

/** Interval of checks whether the inspector listens. */
const TRIES = 50
const TRY_MS = 100

const Targets = z.tuple([z.object({ webSocketDebuggerUrl: z.string() })]).rest(z.unknown())
const Reply = z.object({ id: z.number(), result: z.unknown() })
const Evaluated = z.object({ result: z.object({ value: z.string() }) })
const Usage = z.object({ rss: z.number(), heapUsed: z.number() })

/** Makes a process open its inspector, at the address that `--inspect-port` set: until then it costs nothing. */
export async function openInspector(inspector: string, pid: number): Promise<Inspector> {
  process.kill(pid, 'SIGUSR1')
  const [{ webSocketDebuggerUrl }] = await targetsOf(inspector)
  const socket = new WebSocket(webSocketDebuggerUrl)
  await new Promise<void>((fulfil, reject) => {
    socket.onopen = () => fulfil()
    socket.onerror = () => reject(new Error(`No inspector at ${inspector}`))
  })
  const waiting = new Map<number, (result: unknown) => void>()
  socket.onmessage = ({ data }) => {
    const { id, result } = Reply.parse(JSON.parse(String(data)))
    waiting.get(id)?.(result)
    waiting.delete(id)
  }

  let sent = 0
  function call(method: string, params = {}): Promise<unknown> {
    const id = ++sent
    return new Promise((fulfil) => {
      waiting.set(id, fulfil)
      socket.send(JSON.stringify({ id, method, params }))
    })
  }

  return {
    async read() {
      await call('HeapProfiler.collectGarbage')
      const expression = 'JSON.stringify(process.memoryUsage())'
      const { result } = Evaluated.parse(await call('Runtime.evaluate', { expression }))
      const { rss, heapUsed } = Usage.parse(JSON.parse(result.value))
      return { rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20 }
    },
    close: () => socket.close(),
  }
}

async function targetsOf(inspector: string): Promise<z.output<typeof Targets>> {
  for (let tried = 1; ; tried++) {
    try {
      return Targets.parse(await (await fetch(`${inspector}/json/list`)).json())
    } catch (error) {
      if (tried === TRIES) throw error
      await new Promise((wake) => setTimeout(wake, TRY_MS))
    }
  }
}

/** The slope of a straight line through the last third of equally distant numbers, by least squares. */
export function lastSlope(numbers: readonly number[]): number {
  const last = numbers.slice(-Math.max(2, Math.ceil(numbers.length / 3)))
  const middle = (last.length - 1) / 2
  const mean = last.reduce((sum, number) => sum + number, 0) / last.length
  const along = last.reduce((sum, number, index) => sum + (index - middle) * (number - mean), 0)
  return along / last.reduce((sum, _number, index) => sum + (index - middle) ** 2, 0)
}
