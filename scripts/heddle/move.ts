import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { parseEnv } from 'node:util'
import { type Command, Option } from 'commander'
import { type Config, readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import type { Moved } from '../../src/move.ts'
import { onInterrupt } from '../on-interrupt.ts'
import { showProgress } from '../progress.ts'
import { dataOption, defaultDataFolder, examples, jsonOption, path } from './options.ts'
import { megabytes } from './sizes.ts'

interface Options {
  to?: string
  data?: string
  forget?: true
  json?: true
}

/** `heddle move`. */
export function addMove(program: Command): void {
  program
    .command('move')
    .description('Move all data to other stores: from a folder to ClickHouse, PostgreSQL and S3, or back.')
    .addOption(
      new Option(
        '--to <place>',
        'a file with the settings of the server afterwards, or a new data folder',
      ).argParser(path),
    )
    .addOption(dataOption())
    .addOption(
      new Option(
        '--forget',
        'use the stores of the present settings again, though they were moved',
      ).conflicts('to'),
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
What is moved is what a server with the present settings (environment variables, or --data) would use. Stop that
server first: what reads is served meanwhile on its address, and what would write gets 503. A file of settings has
lines NAME=value, such as HEDDLE_CLICKHOUSE_URL=…, HEDDLE_POSTGRES_URL=…, HEDDLE_S3_URL=… and HEDDLE_DATA=…; AWS_… in
it are used as well, and may not differ from those of the environment. A store that both settings place the same
stays where it is, also the data folder where the file names none. A place that does not exist is a new folder, unless
its name has a dot, as those of files have: make such a folder first.

Every table and file is compared after it was copied. A move that was interrupted goes on when it is run again.
Nothing is deleted where the data was, and a server refuses to start there afterwards. Not moved: logs, the folder
imports, and the work of open training jobs, which start again.
${examples('heddle move --to cluster.env', 'heddle move --to /srv/heddle', 'heddle move --forget')}`,
    )
    .action(async (options: Options, command: Command) => {
      const source = readConfig({ ...process.env, HEDDLE_DATA: options.data ?? defaultDataFolder() })
      const log = createLog({ logLevel: 'warn', logFormat: source.logFormat })
      if (options.forget) {
        const { forgetMovesOf } = await import('../../src/move.ts')
        const count = await forgetMovesOf(source, log)
        process.stdout.write(
          options.json ? `${JSON.stringify({ forgotten: count })}\n` : `Forgot ${count} moves.\n`,
        )
        return
      }
      if (options.to === undefined)
        command.error("error: neither option '--to <place>' nor option '--forget' specified")
      const target = settingsOf(options.to, source.dataFolder)
      const { move } = await import('../../src/move.ts')
      const progress = options.json ? undefined : showProgress('Moving')
      using interrupt = onInterrupt('Interrupted: run the same command again to go on')
      try {
        const moved = await move({ source, target }, log, {
          onServing: (url) => progress?.show(`reads are served at ${url}`),
          onProgress: ({ what, done }) => progress?.show(`${what}: ${done}`),
          signal: interrupt.signal,
        })
        progress?.done()
        process.stdout.write(options.json ? `${JSON.stringify(moved)}\n` : summaryOf(moved))
      } catch (error) {
        progress?.failed()
        throw error
      }
    })
}

/**
 * The settings of a server that uses a place: those of a file, with the data folder of the source where it names none,
 * or a data folder alone.
 */
function settingsOf(place: string, dataFolder: string): Config {
  if (!existsSync(place)) {
    if (basename(place).includes('.')) throw new Error(`The file of settings does not exist: ${place}`)
    return readConfig({ HEDDLE_DATA: place })
  }
  if (statSync(place).isDirectory()) return readConfig({ HEDDLE_DATA: place })
  const text = readFileSync(place, 'utf8')
  refuseUnknownLines(text, place)
  const values = parseEnv(text)
  const target = readConfig({ ...values, HEDDLE_DATA: values['HEDDLE_DATA'] || dataFolder })
  shareCredentials(values, place)
  return target
}

/** A setting: its value is the rest of the line, or goes on to its closing quote in a later one. */
const SETTING = /^[ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`|)[^\n]*/

/** What has no meaning: a blank line, or a comment. */
const NOTHING = /^[ \t\r]*(?:#[^\n]*)?/

/**
 * Node passes over lines that it does not understand, and with them over the setting that was meant.
 * @throws Error with the number of the first
 */
function refuseUnknownLines(text: string, place: string): void {
  let line = 1
  for (let rest = text; rest !== ''; ) {
    const [entry = ''] = SETTING.exec(rest) ?? NOTHING.exec(rest) ?? []
    if (entry.length < rest.length && rest[entry.length] !== '\n')
      throw new Error(`Line ${line} of ${place} is no setting: it is neither NAME=value nor a comment`)
    line += entry.split('\n').length
    rest = rest.slice(entry.length + 1)
  }
}

/**
 * The client of S3 finds these in the environment alone, where both buckets have the same.
 * @throws Error that names a variable which differs
 */
function shareCredentials(values: NodeJS.Dict<string>, place: string): void {
  for (const [name, value] of Object.entries(values)) {
    if (!name.startsWith('AWS_') || !value) continue
    if (process.env[name] && process.env[name] !== value)
      throw new Error(
        `${name} differs between ${place} and the environment: one command uses one value for both places`,
      )
    process.env[name] = value
  }
}

function summaryOf({ moves, traceRows, controlRows, replacedTexts, blobs }: Moved): string {
  const total = (rows: Readonly<Record<string, number>> | undefined): number =>
    Object.values(rows ?? {}).reduce((sum, count) => sum + count, 0)
  const amounts = {
    trace_db: `${total(traceRows)} rows (${traceRows?.['calls'] ?? 0} calls)`,
    control_db: `${total(controlRows)} rows`,
    blobs: `${blobs?.count ?? 0} files, ${megabytes(blobs?.bytes ?? 0)}`,
  }
  const lines = moves.map(({ store, from, to }) => `${from} -> ${to}: ${amounts[store]}, compared`)
  for (const [table, count] of Object.entries(replacedTexts))
    lines.push(
      `${table}: U+0000 has become U+FFFD in ${count} texts, since the control database does not store it`,
    )
  return `${lines.join('\n')}\nStart the server with the settings of the new place.\n`
}
