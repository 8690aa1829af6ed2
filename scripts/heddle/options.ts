/** Options that several commands have. */
import { join, resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { ROOT } from '../repository.ts'

/** The data folder that is used where no option names one: the same from every directory. */
export function defaultDataFolder(): string {
  return resolve(process.env.HEDDLE_DATA ?? join(ROOT, 'data'))
}

export function dataOption(): Option {
  return new Option(
    '--data <folder>',
    'the data folder (default: $HEDDLE_DATA, or the folder data of Heddle)',
  ).argParser((folder: string) => resolve(folder))
}

export function urlOption(): Option {
  return new Option('--url <url>', 'the running server (default: the one that holds the data folder)')
}

export function keyOption(): Option {
  return new Option('--key <key>', 'a key of the server (default: $HEDDLE_API_KEY, or $WANDB_API_KEY)')
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON, for scripts')
}

/** Reads the number of a port. */
export function port(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text
  throw new InvalidArgumentError('It is a number from 0 to 65535.')
}

/** Makes the help of a command end with examples. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`
}
