import { type Command, Option } from 'commander'
import { dataOption, defaultDataFolder, examples, port } from './options.ts'

/** Options and the variables that they set: `src/config.ts` reads and checks these. */
const VARIABLES = [
  ['port', 'HEDDLE_PORT'],
  ['host', 'HEDDLE_HOST'],
  ['data', 'HEDDLE_DATA'],
  ['role', 'HEDDLE_ROLE'],
  ['baseModel', 'HEDDLE_BASE_MODEL'],
  ['log', 'HEDDLE_LOG'],
] as const

type Options = Partial<Record<(typeof VARIABLES)[number][0], string>>

/** `heddle serve`; `npm start` is the same. */
export function addServe(program: Command): void {
  program
    .command('serve')
    .description('Run the server until Ctrl-C, as npm start does.')
    .option('--port <number>', 'the port, 0 for a free one (default: $HEDDLE_PORT, or 6060)', port)
    .option('--host <address>', 'where to listen (default: $HEDDLE_HOST, or 127.0.0.1)')
    .addOption(dataOption())
    .addOption(
      new Option(
        '--role <role>',
        'of several servers: api runs no jobs, worker answers no requests (default: $HEDDLE_ROLE, or all)',
      ).choices(['all', 'api', 'worker']),
    )
    .option('--base-model <id>', 'the model that is served from the start (default: $HEDDLE_BASE_MODEL)')
    .option('--log <level>', 'debug, info, warn, error or silent (default: $HEDDLE_LOG, or info)')
    .addHelpText(
      'after',
      `${examples('heddle serve', 'heddle serve --port 6061 --data /srv/heddle')}

docs/CONFIGURATION.md has all settings, as environment variables; an option wins over its variable.`,
    )
    .action(async (options: Options) => {
      process.env.HEDDLE_DATA = defaultDataFolder()
      for (const [option, variable] of VARIABLES) {
        const value = options[option]
        if (value !== undefined) process.env[variable] = value
      }
      const { serve } = await import('../serve.ts')
      await serve()
    })
}
