/** The command `heddle`: `heddle --help` lists what it does. */
import { Command, CommanderError } from 'commander'
import { messageOf } from '../src/errors.ts'
import { VERSION } from '../src/version.ts'
import { NOT_UNDERSTOOD } from './arguments.ts'
import { COMMANDS } from './heddle/commands.ts'
import { outliveReader } from './output.ts'

/** The exit code of a command that failed. */
const FAILED = 1

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

outliveReader()

/** Whether JSON was asked for: as the command has read its options, or by the words where none could be read. */
let isJson = optionWords().includes('--json')
program.hook('preAction', (_, command) => {
  isJson = command.optsWithGlobals()['json'] === true
})

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) {
    if (!isJson) process.stderr.write(`${messageOf(error)}\n`)
    printForScripts(messageOf(error))
    process.exitCode = FAILED
  } else if (error.exitCode !== 0) {
    // Commander has written the text for people itself.
    printForScripts(error.message.replace(/^error: /, ''))
    process.exitCode = NOT_UNDERSTOOD
  }
}

/** Scripts that read JSON find the reason there. */
function printForScripts(error: string): void {
  if (isJson) process.stdout.write(`${JSON.stringify({ error })}\n`)
}

/** The words that may be options. */
function optionWords(): string[] {
  const words = process.argv.slice(2)
  const end = words.indexOf('--')
  return end < 0 ? words : words.slice(0, end)
}
