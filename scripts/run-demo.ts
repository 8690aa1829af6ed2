/** What every demo does around its own client: set-up, a server, the client, and serving on until Ctrl-C. */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '../src/errors.ts'
import { engineReady, freePort, runClient, showAddresses, startServer } from './own-server.ts'
import { setUp } from './parts.ts'
import { ROOT } from './repository.ts'

export interface Demo {
  help: string
  /** A client in Python, named from the repository's root. */
  program: string
  /** The options that the program gets. */
  passed: readonly string[]
}

/** Runs the demo with the options of the command line; ends with its status. */
export async function runDemo(demo: Demo): Promise<void> {
  await run(demo).catch((error: unknown) => {
    process.stderr.write(`\n${messageOf(error)}\n`)
    process.exitCode = 1
  })
}

async function run({ help, program, passed }: Demo): Promise<void> {
  const { values } = parseArgs({
    options: {
      exit: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      port: { type: 'string', default: process.env.HEDDLE_PORT ?? '6060' },
      'base-model': { type: 'string' },
      ...Object.fromEntries(passed.map((name) => [name, { type: 'string' as const }])),
    },
  })
  if (values.help) {
    process.stdout.write(help)
    return
  }
  await setUp(['web', 'engine', 'clients'])
  const baseModel = values['base-model']
  const server = startServer({
    port: await freePort(Number(values.port)),
    data: resolve(process.env.HEDDLE_DATA ?? join(ROOT, 'data')),
    env: baseModel === undefined ? {} : { HEDDLE_BASE_MODEL: baseModel },
  })
  const given = passed.flatMap((name) => {
    const value = Object.entries(values).find(([option]) => option === name)?.[1]
    return value === undefined ? [] : [`--${name}`, String(value)]
  })
  try {
    await engineReady(server, baseModel)
    process.exitCode = await runClient(server, [program, ...given])
    showAddresses(server)
    if (!values.exit) {
      process.stdout.write('\nServing until Ctrl-C.\n')
      await server.closed
    }
  } finally {
    server.stop()
    await server.closed
  }
}
