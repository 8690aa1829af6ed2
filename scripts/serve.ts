/**
 * Serves at once, and brings the engine behind it: what is missing of the engine's environment is installed while the
 * server already answers; it uses the environment once it is complete.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { messageOf } from '../src/errors.ts'
import { ensureWeb } from './parts.ts'
import { ensurePython, isReady } from './python-environments.ts'
import { NODE, ROOT } from './repository.ts'

/** Runs the server until it ends, and ends this process with its status. */
export async function serve(): Promise<void> {
  await ensureWeb().catch((error: unknown) => {
    process.stderr.write(`The API runs; the web UI could not be built. ${messageOf(error)}\n`)
  })
  const server = spawn(NODE, [join(ROOT, 'src/main.ts')], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal))
  server.once('close', (code) => process.exit(code ?? 1))

  if (process.env.HEDDLE_ENGINE_PYTHON || isReady('engine')) return
  await ensurePython('engine').catch((error: unknown) => {
    process.stderr.write(`The trace half runs; the engine could not be installed. ${messageOf(error)}\n`)
  })
}
