/** The command `heddle`: `heddle --help` lists what it does. */
import { Command, CommanderError } from 'commander'
import { messageOf } from '../src/errors.ts'
import { VERSION } from '../src/version.ts'
import { COMMANDS } from './heddle/commands.ts'

/** Exit codes: 0 done, 1 failed, 2 the command was not understood. */
const FAILED = 1
const NOT_UNDERSTOOD = 2

const program = new Command('heddle')
  .description('One self-hosted server for tracing, evaluation, training and inference.')
  .version(VERSION, '-V, --version', 'print the version')
  .helpOption('-h, --help', 'print this help')
  .helpCommand(false)
  .showHelpAfterError('(--help lists the options)')
  .exitOverride()
  .addHelpText(
    'after',
    `
Exit codes: 0 done, 1 failed, 2 the command was not understood.

Examples:
  heddle serve --port 6061
  heddle backup /backups/monday
  heddle restore /backups/monday --data ./restored
  heddle doctor`,
  )
for (const add of COMMANDS) add(program)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : NOT_UNDERSTOOD
  } else {
    // Scripts that read JSON find the reason there.
    if (process.argv.includes('--json'))
      process.stdout.write(`${JSON.stringify({ error: messageOf(error) })}\n`)
    else process.stderr.write(`${messageOf(error)}\n`)
    process.exitCode = FAILED
  }
}
