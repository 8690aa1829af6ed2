/**
 * Serves at once, and brings the engine behind it: what is missing of the engine's environment is installed while the
 * server already answers; it uses the environment once it is complete.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readConfig } from '../src/config.ts'
import { messageOf } from '../src/errors.ts'
import { STOP_SIGNALS } from '../src/stop-signals.ts'
import { ensureWeb } from './parts.ts'
import { ensurePython, isReady } from './python-environments.ts'
import { NODE } from './repository.ts'
import { ensureServer, SERVER_PROGRAM, SERVER_SOURCE } from './server-build.ts'

/**
 * Runs the server until it ends, as this process or as its child, whose status it ends with.
 * @throws Error for wrong settings, before anything is built or installed
 */
export async function serve(): Promise<void> {
  const { engine } = readConfig()
  await ensureWeb().catch((error: unknown) => {
    process.stderr.write(`The API runs; the web UI could not be built. ${messageOf(error)}\n`)
  })
  const program = await ensureServer().then(
    () => SERVER_PROGRAM,
    (error: unknown) => {
      process.stderr.write(
        `The server could not be built and runs from its sources, which takes longer to start. ${messageOf(error)}\n`,
      )
      return SERVER_SOURCE
    },
  )
  const complete = engine.python !== undefined || isReady('engine')
  // Nothing is left to do here, so the server takes the place of this process and of its memory.
  if (complete) process.execve?.(NODE, [NODE, program])
  const server = spawn(NODE, [program], { stdio: 'inherit' })
  const closed = once(server, 'close')
  const installation = new AbortController()
  server.once('close', () => installation.abort())
  for (const name of STOP_SIGNALS)
    process.on(name, () => {
      installation.abort()
      server.kill(name)
    })
  if (!complete) await installEngine(installation.signal)
  const [code] = await closed
  process.exitCode = code ?? 1
}

/** @param signal ends it with the server: an installation that went on would hold up that of the next start */
async function installEngine(signal: AbortSignal): Promise<void> {
  await ensurePython('engine', signal).catch((error: unknown) => {
    if (signal.aborted) return
    process.stderr.write(`The trace half runs; the engine could not be installed. ${messageOf(error)}\n`)
  })
}
