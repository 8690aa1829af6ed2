import type { Command } from 'commander'
import { z } from 'zod'
import { type Holder, holderOf } from '../../src/stores/data-folder.ts'
import { type Address, type Asked, ask, type Method, replyOf } from '../ask.ts'
import { dataOption, defaultDataFolder, defaultUrl, jsonOption, keyOption, urlOption } from './options.ts'

/** The most that a server puts on a page. */
const PAGE_ITEMS = 100

/**
 * Where the holder of a data folder answers: an address of all interfaces is none to ask, and no certificate names the
 * one that is asked instead.
 */
export function addressOf(holder: Holder | undefined): Address | undefined {
  if (holder?.url === undefined) return undefined
  const url = holder.url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  return { url, certificate: holder.certificate }
}

/** Which server a command asks. */
export interface ServerOptions {
  data?: string
  url?: string
  key?: string
}

/** The server that is named, or that holds the data folder; undefined where none holds it. */
export function serverOf(options: ServerOptions): Asked | undefined {
  const { key, data = defaultDataFolder() } = options
  const url = options.url ?? (options.data === undefined ? defaultUrl() : undefined)
  if (url !== undefined) return { url, key }
  const holder = holderOf(data)
  if (holder === undefined) return undefined
  const held = addressOf(holder)
  if (held === undefined)
    throw new Error(`The data folder ${data} is in use (${holder.text}): ${adviceOn(holder)}`)
  return { ...held, key }
}

/**
 * What to do where a holder has no address: one of an earlier release, which does not say what it is, may be a server.
 */
function adviceOn({ use = 'server' }: Holder): string {
  return use === 'server' ? `name the server's address with --url` : `wait until the ${use} has ended`
}

export interface AskOptions extends ServerOptions {
  json?: true
}

/** Adds the options of a command that asks a running server. */
export function asking(command: Command): Command {
  return command.addOption(urlOption()).addOption(keyOption()).addOption(dataOption()).addOption(jsonOption())
}

/** The reply of the running server. @throws Error with the server's message, or that none runs. */
export async function askServer<Reply extends z.ZodType>(
  options: AskOptions,
  schema: Reply,
  method: Method,
  path: string,
  body?: object,
): Promise<z.output<Reply>> {
  const server = serverOf(options)
  if (server === undefined)
    throw new Error(
      `No server runs on ${options.data ?? defaultDataFolder()}: start it with heddle serve, or name one with --url`,
    )
  return replyOf(server.url, schema, await ask(server, method, path, body))
}

/** How a list is asked for that is answered in pages. */
export interface Listed<Item extends z.ZodType> {
  path: string
  query?: Record<string, string>
  item: Item
  /** What the page after an item is asked for with. */
  after(item: z.output<Item>): string
}

/** All items of a list, page by page. @throws Error as {@link askServer}. */
export async function askForAll<Item extends z.ZodType>(
  options: AskOptions,
  { path, query, item, after }: Listed<Item>,
): Promise<z.output<Item>[]> {
  const page = z.object({ data: z.array(item), has_more: z.boolean() })
  const items: z.output<Item>[] = []
  let position: string | undefined
  for (;;) {
    const parameters = new URLSearchParams({
      ...query,
      limit: String(PAGE_ITEMS),
      ...(position !== undefined && { after: position }),
    })
    const { data, has_more } = await askServer(options, page, 'GET', `${path}?${parameters}`)
    items.push(...data)
    const last = data.at(-1)
    if (!has_more || last === undefined) return items
    const next = after(last)
    if (next === position) throw new Error(`The server answers ${path} with the same page again`)
    position = next
  }
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
