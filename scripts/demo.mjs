/**
 * `npm run demo`: sets everything up, starts Heddle, trains the tiny model through its API with the real clients, and
 * keeps serving. `npm run demo -- --help` lists the options.
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { engineReady, freePort, runClient, showAddresses, startServer } from './own-server.mjs'
import { ROOT, setUp } from './setup.mjs'

const HELP = `Usage: npm run demo -- [--exit] [--task sums|preference] [--steps N] [--seed N] [--base-model ID] [--port N]

Trains a small chat model by reinforcement learning through Heddle's own API, with openpipe-art, openai and weave.
  --exit        end when training is done: status 0 if the held-out reward rose, 1 if not
  --task        sums (verifiable, the default) or preference
  --steps       training steps (default 15)
  --seed        seed of the questions (default 0)
  --base-model  an id of engine/models, a local folder or a Hugging Face id (default heddle/loom-tiny)
  --port        port to serve on (default 6060, or a free one where that is taken)
The data is kept in HEDDLE_DATA (default ./data).
`

const options = {
  exit: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  port: { type: 'string', default: process.env.HEDDLE_PORT ?? '6060' },
  task: { type: 'string' },
  steps: { type: 'string' },
  seed: { type: 'string' },
  'base-model': { type: 'string' },
}

async function demo() {
  const { values } = parseArgs({ options })
  if (values.help) return process.stdout.write(HELP)
  await setUp(['packages', 'web', 'engine', 'clients'])
  const server = startServer({
    port: await freePort(Number(values.port)),
    data: resolve(process.env.HEDDLE_DATA ?? join(ROOT, 'data')),
    env: values['base-model'] === undefined ? {} : { HEDDLE_BASE_MODEL: values['base-model'] },
  })
  let status = 1
  try {
    await engineReady(server, values['base-model'])
    status = await train(server, values)
    showAddresses(server)
    if (!values.exit) {
      process.stdout.write('\nServing until Ctrl-C.\n')
      await server.closed
    }
  } finally {
    server.stop()
    await server.closed
  }
  process.exitCode = status
}

function train(server, values) {
  const passed = ['task', 'steps', 'seed', 'base-model'].flatMap((name) =>
    values[name] === undefined ? [] : [`--${name}`, values[name]],
  )
  return runClient(server, ['demo/train.py', ...passed])
}

await demo().catch((error) => {
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
})
