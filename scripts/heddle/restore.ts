import { type Command, Option } from 'commander'
import { shellWord } from '../../src/shell-word.ts'
import { VERSION } from '../../src/version.ts'
import { showProgress } from '../progress.ts'
import { examples, jsonOption, namedDataFolder, path } from './options.ts'
import { megabytes } from './sizes.ts'

interface Options {
  data?: string
  json?: true
}

/** `heddle restore`. */
export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('Make a data folder of a backup.')
    .argument('<backup>', 'the folder or .tar file that heddle backup made', path)
    .addOption(
      new Option('--data <folder>', 'the data folder to make (default: $HEDDLE_DATA)').argParser(path),
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
The folder must be new or empty. No server starts on it until every file has proved to be as it was backed up.
${examples('heddle restore /backups/monday --data ./restored', 'heddle serve --data ./restored')}`,
    )
    .action(async (backup: string, { json, ...options }: Options, command: Command) => {
      const data = options.data ?? namedDataFolder()
      // A folder that nobody named, such as the one that other commands use then, is not one to fill.
      if (data === undefined)
        command.error("error: option '--data <folder>' not specified, and HEDDLE_DATA is not set")
      const progress = json ? undefined : showProgress('Restoring')
      try {
        const [{ restoreBackup }, { controlMigrations }] = await Promise.all([
          import('../../src/stores/backup/restore.ts'),
          import('../../src/stores/control-db/migrate.ts'),
        ])
        const migrations = [...(await controlMigrations()).keys()]
        const restored = await restoreBackup(backup, data, { version: VERSION, migrations })
        progress?.done()
        const { takenAt, heddle, files, bytes } = restored
        process.stdout.write(
          json
            ? `${JSON.stringify({ data, taken_at: takenAt, heddle, files, bytes })}\n`
            : `${data} is what Heddle ${heddle} held at ${takenAt}: ${files} files, ${megabytes(bytes)}.
Put secret.key into it, or set HEDDLE_SECRET_KEY: no backup has the key, without which API keys are not valid.
Keys revoked, and members, users and projects removed or erased, after ${takenAt} are there again: do that again
("Restore" in docs/OPERATIONS.md).
Start it with: heddle serve --data ${shellWord(data)}\n`,
        )
      } catch (error) {
        progress?.failed()
        throw error
      }
    })
}
