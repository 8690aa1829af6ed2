/** What every demo does around its own client: set-up, a server, the client, and serving on until Ctrl-C. */
import { join, resolve } from 'node:path'
import { messageOf } from '../src/errors.ts'
import { readArguments, refuse } from './arguments.ts'
import { engineReady, freePort, runClient, showAddresses, startServer } from './own-server.ts'
import { setUp } from './parts.ts'
import { ROOT } from './repository.ts'

export interface Demo {
  help: string
  /** A client in Python, named from the repository's root. */
  program: string
  /** The options that the program gets, and what it takes for them. */
  passed: Readonly<Record<string, 'text' | 'whole number' | readonly string[]>>
}

const PORT_MAX = 65_535

/** Runs the demo with the options of the command line; ends with its status. */
export async function runDemo(demo: Demo): Promise<void> {
  await run(demo).catch((error: unknown) => {
    process.stderr.write(`\n${messageOf(error)}\n`)
    process.exitCode = 1
  })
}

async function run({ help, program, passed }: Demo): Promise<void> {
  const { values } = readArguments(help, {
    options: {
      exit: { type: 'boolean', default: false },
      port: { type: 'string', default: process.env.HEDDLE_PORT || '6060' },
      'base-model': { type: 'string' },
      ...Object.fromEntries(Object.keys(passed).map((name) => [name, { type: 'string' as const }])),
    },
    strict: true,
  })
  if (!isWhole(values.port) || Number(values.port) > PORT_MAX)
    refuse(help, `--port, or HEDDLE_PORT, is a number from 0 to ${PORT_MAX}`)
  const given = Object.entries(passed).flatMap(([name, kind]) => {
    const value = Object.entries(values).find(([option]) => option === name)?.[1]
    if (value === undefined) return []
    const mistake = mistakeIn(String(value), kind)
    if (mistake !== undefined) refuse(help, `--${name} ${mistake}`)
    return [`--${name}`, String(value)]
  })
  await setUp(['server', 'web', 'engine', 'clients'])
  const baseModel = values['base-model']
  const server = startServer({
    port: await freePort(Number(values.port)),
    data: resolve(process.env.HEDDLE_DATA || join(ROOT, 'data')),
    env: baseModel === undefined ? {} : { HEDDLE_BASE_MODEL: baseModel },
  })
  try {
    await engineReady(server, baseModel)
    process.exitCode = await runClient(server, [program, ...given])
    showAddresses(server)
    if (!values.exit) {
      process.stdout.write('\nServing until Ctrl-C.\n')
      await server.closed
      if (server.failure !== undefined) throw new Error(server.failure)
    }
  } finally {
    server.stop()
    await server.closed
  }
}

/** As the program would say it, but before the set-up. */
function mistakeIn(value: string, kind: Demo['passed'][string]): string | undefined {
  if (kind === 'text') return undefined
  if (kind === 'whole number') return isWhole(value) ? undefined : 'is a whole number'
  return kind.includes(value) ? undefined : `is ${kind.join(' or ')}`
}

function isWhole(value: string): boolean {
  return /^\d+$/.test(value)
}
