import type { Command } from 'commander'
import { BackupRes } from '../../src/system/backup/wire.ts'
import { type Asked, askForLines, replyOf } from '../ask.ts'
import { type Progress, showProgress } from '../progress.ts'
import { dataOption, defaultDataFolder, examples, jsonOption, keyOption, path, urlOption } from './options.ts'
import { type ServerOptions, serverOf } from './running-server.ts'
import { megabytes } from './sizes.ts'
import type { Done } from './stopped-backup.ts'

interface Options extends ServerOptions {
  json?: true
}

/** `heddle backup`: by the server that holds the data folder, or of a folder that none holds. */
export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('Write a backup of all data, while the server runs or while it does not.')
    .argument(
      '<target>',
      'a new or empty folder, or a new file that ends in .tar; on the machine of the server',
      path,
    )
    .addOption(dataOption())
    .addOption(urlOption())
    .addOption(keyOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
A backup is the state of one moment. Not in it: secret.key, which encrypts stored secrets (keep a copy of it, or of
HEDDLE_SECRET_KEY, elsewhere), logs, the folder imports, and the work of open training jobs, which start again.
${examples('heddle backup /backups/monday', 'heddle backup monday.tar --data /srv/heddle')}`,
    )
    .action(async (target: string, options: Options) => {
      const progress = options.json ? undefined : showProgress('Backup')
      try {
        const server = serverOf(options)
        const done = await (server === undefined
          ? ofStopped(options.data ?? defaultDataFolder(), target, progress)
          : ofRunning(server, target, progress))
        progress?.done()
        if (options.json) process.stdout.write(`${JSON.stringify(done)}\n`)
        else show(done)
      } catch (error) {
        progress?.failed()
        throw error
      }
    })
}

async function ofStopped(data: string, target: string, progress: Progress | undefined): Promise<Done> {
  const { backupStopped } = await import('./stopped-backup.ts')
  return backupStopped(data, target, progress)
}

async function ofRunning(server: Asked, target: string, progress: Progress | undefined): Promise<Done> {
  for await (const line of askForLines(server, '/v1/preview/system/backup', { path: target })) {
    const report = replyOf(server.url, BackupRes, line)
    if (report.state === 'done') return report
    if (report.state === 'failed') throw new Error(report.error)
    progress?.show(
      report.state === 'preparing'
        ? `${report.files} files are kept`
        : `${megabytes(report.bytes)} of ${megabytes(report.bytes_total)}`,
    )
  }
  throw new Error('The server has ended before the backup was whole')
}

function show({ path: target, taken_at, held_ms, files, bytes, broken_parts }: Done): void {
  const lines = [
    `${target} is the state of ${taken_at}: ${files} files, ${megabytes(bytes)}.`,
    ...(held_ms > 0 ? [`Writes waited ${Math.round(held_ms)} ms.`] : []),
    ...(broken_parts > 0
      ? [
          `${broken_parts} parts of the trace database could not be read: their rows are missing from the backup.`,
        ]
      : []),
    'It has no secret.key: keep a copy of that file, or of HEDDLE_SECRET_KEY, elsewhere.',
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
