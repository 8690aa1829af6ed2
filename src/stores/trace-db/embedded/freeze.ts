import { mkdir, readdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Requests } from '../clickhouse/server.ts'

/** Copies of the tables' files that stay as they are while the tables change. */
export interface FrozenTables {
  /** The files lie in it as below the database's own folder. */
  folder: string
  /** Makes the files of what is not a part, which are in memory until then. */
  writeSmallFiles(): Promise<void>
}

export interface Freezer {
  /**
   * Freezes all tables below a name: parts are hard links. Writes must be held meanwhile.
   * @throws Error when a table is closed, so that its rows would be missing
   */
  freeze(name: string): Promise<FrozenTables>
  /** Removes the copies of a name. */
  unfreeze(name: string): Promise<void>
}

/**
 * Where ClickHouse puts frozen parts:
 * https://clickhouse.com/docs/sql-reference/statements/alter/partition#freeze-partition
 */
const FROZEN = 'shadow'

/** The link that leads to the definitions of the tables. */
const DATABASE = 'metadata/default'

const TABLES = 'SELECT name, data_paths FROM system.tables WHERE database = currentDatabase()'

export function createFreezer({ requests, path }: { requests: Requests; path: string }): Freezer {
  const folderOf = (name: string): string => join(path, FROZEN, name)
  const unfreeze = (name: string): Promise<void> => rm(folderOf(name), { recursive: true, force: true })

  async function freeze(name: string): Promise<FrozenTables> {
    // ClickHouse writes other characters differently in the name of the folder.
    if (!/^\w+$/.test(name)) throw new TypeError(`Bad name of a copy: ${name}`)
    const folder = folderOf(name)
    const root = await realpath(path)
    const tables = await requests.rows<{ name: string; data_paths: string[] }>(TABLES)
    const definitions = await smallFilesOf(await realpath(join(path, DATABASE)))
    if (definitions.length !== tables.length)
      throw new Error('A table of the trace database is closed until it can be repaired')
    // Mutations before parts: one whose parts are done already has nothing left to do.
    const small = await Promise.all(tables.flatMap(({ data_paths }) => data_paths.map(smallFilesOf)))
    const freezing = tables.map((table) =>
      requests.run(`ALTER TABLE \`${table.name}\` FREEZE WITH NAME '${name}'`),
    )
    await Promise.allSettled(freezing)
    await Promise.all(freezing)
    return {
      folder,
      async writeSmallFiles() {
        for (const file of [...definitions, ...small.flat()]) {
          const target = join(folder, relative(root, file.path))
          await mkdir(dirname(target), { recursive: true })
          await writeFile(target, file.bytes)
        }
      },
    }
  }

  return { freeze, unfreeze }
}

/** Removes what an earlier process has frozen. */
export function removeFrozen(path: string): Promise<void> {
  return rm(join(path, FROZEN), { recursive: true, force: true })
}

/** The links of a database's folder without which its tables are not found: relative names and targets. */
export async function databaseLinks(path: string): Promise<{ name: string; target: string }[]> {
  return [{ name: DATABASE, target: await readlink(join(path, DATABASE)) }]
}

/** Files directly in a folder: definitions of tables, versions and mutations, each of some hundred bytes. */
async function smallFilesOf(folder: string): Promise<{ path: string; bytes: Buffer }[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name))
  return Promise.all(paths.map(async (path) => ({ path, bytes: await readFile(path) })))
}
