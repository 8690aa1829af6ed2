import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The checksum of each migration by its name. */
export type MigrationChecksums = ReadonlyMap<string, string>

/**
 * SHA-256 of every migration in a folder, in the order in which they run. Line endings do not count: git may change
 * them.
 */
export async function readMigrationChecksums(folder: string, extension: string): Promise<MigrationChecksums> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(extension)).sort()
  const entries = names.map(async (name): Promise<[string, string]> => {
    const text = await readFile(join(folder, name), 'utf8')
    return [name, createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')]
  })
  return new Map(await Promise.all(entries))
}

/**
 * Compares the migrations of this build with those that were applied to a database. A migration recorded without a
 * checksum was applied by a build that kept none; its present checksum is recorded.
 * @returns the applied migrations whose checksum is still to be recorded.
 * @throws Error that names a migration which has changed since, or which this build does not have.
 */
export function checkAppliedMigrations(
  ofBuild: MigrationChecksums,
  applied: ReadonlyMap<string, string | undefined>,
): MigrationChecksums {
  const unrecorded = new Map<string, string>()
  for (const [name, checksum] of applied) {
    const current = ofBuild.get(name)
    if (current === undefined)
      throw new Error(
        `The data was migrated by a newer release: this one has no migration ${name}. Start the newer release on it.`,
      )
    if (checksum === undefined) unrecorded.set(name, current)
    else if (checksum !== current)
      throw new Error(
        `Migration ${name} is not the one that was applied to the data: it has been edited since. ` +
          'Restore it, and put the change into a new migration.',
      )
  }
  return unrecorded
}
