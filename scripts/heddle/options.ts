/** Options that several commands have. */
import { join, resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { messageOf } from '../../src/errors.ts'
import { KEY_CHARACTERS } from '../ask.ts'
import { ROOT } from '../repository.ts'

/** The data folder that is used where no option names one: the same from every directory. */
export function defaultDataFolder(): string {
  return namedDataFolder() ?? join(ROOT, 'data')
}

/** The data folder that the environment names. */
export function namedDataFolder(): string | undefined {
  return process.env.HEDDLE_DATA ? resolve(process.env.HEDDLE_DATA) : undefined
}

/** The address of the server that is asked where no option names one. @throws Error with the variable's name. */
export function defaultUrl(): string | undefined {
  const url = process.env.HEDDLE_URL
  if (!url) return undefined
  try {
    return address(url)
  } catch (error) {
    throw new Error(`HEDDLE_URL: ${messageOf(error)}`)
  }
}

export function dataOption(): Option {
  return new Option(
    '--data <folder>',
    'the data folder (default: $HEDDLE_DATA, or the folder data of Heddle)',
  ).argParser(path)
}

export function urlOption(): Option {
  return new Option(
    '--url <url>',
    'the running server (default: $HEDDLE_URL, or the one that holds the data folder)',
  )
    .argParser(address)
    .conflicts('data')
}

export function keyOption(): Option {
  return new Option(
    '--key <key>',
    'a key of the server (default: $HEDDLE_API_KEY, or $WANDB_API_KEY)',
  ).argParser(key)
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON, for scripts')
}

/** Reads a path, which is made absolute: an empty one would be the directory that the command is run in. */
export function path(text: string): string {
  if (text !== '') return resolve(text)
  throw new InvalidArgumentError('It is empty.')
}

/** Reads the number of a port. */
export function port(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text
  throw new InvalidArgumentError('It is a number from 0 to 65535.')
}

/** Reads a whole number from 1 to a greatest one. */
export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d*$/.test(text) && Number(text) <= max) return Number(text)
    throw new InvalidArgumentError(`It is a whole number from 1 to ${max}.`)
  }
}

/** Reads a link that signs in, whose secret is behind the `#`. */
export function signInLink(text: string): string {
  const url = webUrl(text)
  if (url !== undefined && url.hash.length > 1) return text
  throw new InvalidArgumentError('It is a link such as http://127.0.0.1:6060/sign-in#TOKEN.')
}

/** Makes the help of a command end with examples. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

/** Reads the address of a server, to which paths are added. */
function address(text: string): string {
  const url = webUrl(text)
  if (url !== undefined && url.search + url.hash + url.username + url.password === '') return text
  throw new InvalidArgumentError('It is an address with http:// or https://, such as http://127.0.0.1:6060.')
}

function webUrl(text: string): URL | undefined {
  return /^https?:\/\//i.test(text) ? (URL.parse(text) ?? undefined) : undefined
}

function key(text: string): string {
  if (KEY_CHARACTERS.test(text)) return text
  throw new InvalidArgumentError('A key has letters and digits of ASCII, and no spaces.')
}
