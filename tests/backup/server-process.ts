import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ensureServer, SERVER_PROGRAM } from '../../scripts/server-build.ts'
import { holderOf } from '../../src/stores/data-folder.ts'
import { eventually } from '../../src/test-eventually.ts'

await ensureServer()

/** A server in a process of its own, without an engine. Disposal kills it. */
export interface ServerProcess extends AsyncDisposable {
  url: string
  /** Ends it: as a machine that fails, or as asked to. */
  stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

/** A server that makes its databases starts in seconds, and on a busy machine in minutes. */
const START_MS_MAX = 240_000

export async function startServer(data: string): Promise<ServerProcess> {
  const child = spawn(process.execPath, [SERVER_PROGRAM], {
    env: {
      ...process.env,
      HEDDLE_DATA: data,
      HEDDLE_PORT: '0',
      HEDDLE_LOG: 'error',
      HEDDLE_ENGINE_PYTHON: '/nonexistent',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    child.kill(signal)
    await closed
  }
  try {
    const url = await eventually(() => addressOf(child, data), START_MS_MAX)
    return { url, stop, [Symbol.asyncDispose]: () => stop('SIGKILL') }
  } catch (error) {
    await stop('SIGKILL')
    throw error
  }
}

function addressOf(child: ChildProcess, data: string): string {
  const holder = holderOf(data)
  if (!holder?.text.startsWith(`process ${child.pid},`) || holder.url === undefined)
    throw new Error('The server does not listen yet')
  return holder.url
}
