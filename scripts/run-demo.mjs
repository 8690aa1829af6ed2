/** What every demo does around its own client: set-up, a server, the client, and serving on until Ctrl-C. */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { engineReady, freePort, runClient, showAddresses, startServer } from './own-server.mjs'
import { ROOT, setUp } from './setup.mjs'

/** Runs `program` with the given ones of its options; ends with its status. */
export async function runDemo({ help, program, passed }) {
  await demo({ help, program, passed }).catch((error) => {
    process.stderr.write(`\n${error.message}\n`)
    process.exitCode = 1
  })
}

async function demo({ help, program, passed }) {
  const { values } = parseArgs({
    options: {
      exit: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      port: { type: 'string', default: process.env.HEDDLE_PORT ?? '6060' },
      ...Object.fromEntries(passed.map((name) => [name, { type: 'string' }])),
    },
  })
  if (values.help) return process.stdout.write(help)
  await setUp(['packages', 'web', 'engine', 'clients'])
  const server = startServer({
    port: await freePort(Number(values.port)),
    data: resolve(process.env.HEDDLE_DATA ?? join(ROOT, 'data')),
    env: values['base-model'] === undefined ? {} : { HEDDLE_BASE_MODEL: values['base-model'] },
  })
  let status = 1
  try {
    await engineReady(server, values['base-model'])
    const given = passed.flatMap((name) => (values[name] === undefined ? [] : [`--${name}`, values[name]]))
    status = await runClient(server, [program, ...given])
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
