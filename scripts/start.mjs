/**
 * `npm start`: the server at once, and the engine behind it. What is missing of the engine's environment is installed
 * while the server already answers; it uses the environment once it is complete.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensurePackages, ensurePython, ensureWeb, isReady, ROOT } from './setup.mjs'

await ensurePackages().catch((error) => {
  process.stderr.write(`\n${error.message}\n`)
  process.exit(1)
})
await ensureWeb().catch((error) => {
  process.stderr.write(`The API runs; the web UI could not be built. ${error.message}\n`)
})
const server = spawn(
  join(ROOT, 'node_modules/.bin/node'),
  [join(ROOT, 'src/main.ts'), ...process.argv.slice(2)],
  {
    stdio: 'inherit',
  },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal))
server.once('close', (code) => process.exit(code ?? 1))

if (!process.env.HEDDLE_ENGINE_PYTHON && !isReady('engine')) {
  await ensurePython('engine').catch((error) => {
    process.stderr.write(`The trace half runs; the engine could not be installed. ${error.message}\n`)
  })
}
