/** The command lines of scripts: each says its usage, and does nothing where it was not understood. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { messageOf } from '../src/errors.ts'

/** The exit code of a command line that was not understood. */
export const NOT_UNDERSTOOD = 2

/**
 * What this process was given. With `--help` it ends after the usage, and with what the config does not know by {@link
 * refuse}.
 */
export function readArguments<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  if (process.argv.includes('--help')) {
    process.stdout.write(usage)
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    refuse(usage, messageOf(error))
  }
}

/** Ends the process with the mistake and the usage. */
export function refuse(usage: string, mistake: string): never {
  process.stderr.write(`${mistake}\n\n${usage}`)
  process.exit(NOT_UNDERSTOOD)
}
