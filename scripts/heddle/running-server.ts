import type { Command } from 'commander'
import { type Holder, holderOf } from '../../src/stores/data-folder.ts'
import { type Asked, ask, DEFAULT_KEY, type Method } from '../ask.ts'
import { dataOption, defaultDataFolder, jsonOption, keyOption, urlOption } from './options.ts'

/** Where the holder of a data folder answers; an address of all interfaces is none to ask. */
export function askableUrl(holder: Holder | undefined): string | undefined {
  return holder?.url?.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

/** Which server a command asks. */
export interface ServerOptions {
  data?: string
  url?: string
  key?: string
}

/** The server that holds a data folder, or that is named; undefined where none holds the folder. */
export function serverOf(data: string, { url, key = DEFAULT_KEY }: ServerOptions): Asked | undefined {
  if (url !== undefined) return { url, key }
  const holder = holderOf(data)
  if (holder === undefined) return undefined
  const held = askableUrl(holder)
  if (held === undefined)
    throw new Error(
      `The data folder ${data} is in use (${holder.text}): name the server's address with --url`,
    )
  return { url: held, key }
}

export interface AskOptions extends ServerOptions {
  json?: true
}

/** Adds the options of a command that asks a running server. */
export function asking(command: Command): Command {
  return command.addOption(urlOption()).addOption(keyOption()).addOption(dataOption()).addOption(jsonOption())
}

/** The reply of the running server. @throws Error with the server's message, or that none runs. */
export async function askServer(
  options: AskOptions,
  method: Method,
  path: string,
  body?: object,
): Promise<unknown> {
  const data = options.data ?? defaultDataFolder()
  const server = serverOf(data, options)
  if (server === undefined)
    throw new Error(`No server runs on ${data}: start it with heddle serve, or name one with --url`)
  return ask(server, method, path, body)
}

/** Prints a reply: as JSON for scripts, or as a function writes it for people. */
export function print<Reply>(reply: Reply, { json }: AskOptions, text: (reply: Reply) => string): void {
  process.stdout.write(`${json ? JSON.stringify(reply) : text(reply)}\n`)
}

/** Rows under their headings, in columns as wide as their longest text. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
