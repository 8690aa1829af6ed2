/**
 * `npm run demo:loop`: sets everything up, starts Heddle, and shows how calls become a better model: traced, judged,
 * collected, trained on, evaluated before and after. `npm run demo:loop -- --help` lists the options.
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { engineReady, freePort, runClient, showAddresses, startServer } from './own-server.mjs'
import { ROOT, setUp } from './setup.mjs'

const HELP = `Usage: npm run demo:loop -- [--exit] [--rounds N] [--seed N] [--base-model ID] [--port N]

Traces a small app with weave and openai, judges 100 calls on the server, trains the app's model on the good ones, and
compares evaluations before and after.
  --exit        end when done: status 0 if the evaluation got better, 1 if not
  --rounds      how often calls are traced, judged and trained on (default 3)
  --seed        seed of the questions (default 0)
  --base-model  an id of engine/models, a local folder or a Hugging Face id (default heddle/loom-tiny)
  --port        port to serve on (default 6060, or a free one where that is taken)
The data is kept in HEDDLE_DATA (default ./data).
`

const options = {
  exit: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  port: { type: 'string', default: process.env.HEDDLE_PORT ?? '6060' },
  rounds: { type: 'string' },
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
    status = await runClient(server, ['demo/loop.py', ...passed(values)])
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

function passed(values) {
  return ['rounds', 'seed', 'base-model'].flatMap((name) =>
    values[name] === undefined ? [] : [`--${name}`, values[name]],
  )
}

await demo().catch((error) => {
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
})
