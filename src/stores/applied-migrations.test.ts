import { appendFile, cp, mkdtemp, readFile, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SILENT } from '../test-log.ts'
import { readMigrationChecksums } from './applied-migrations.ts'
import { migrateControlDb } from './control-db/migrate.ts'
import { openSqlite } from './control-db/sqlite.ts'
import { openEmbedded } from './trace-db/embedded/embedded.ts'
import { migrateTraceDb } from './trace-db/migrate.ts'
import { rowsOf } from './trace-db/port.ts'

const MIGRATIONS = resolve(import.meta.dirname, '../../migrations')

/** A copy of all migrations, which a test may edit. */
async function copied(store: 'control' | 'trace'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-migrations-'))
  await cp(join(MIGRATIONS, store), folder, { recursive: true })
  return folder
}

describe('migrations', () => {
  it.each([
    ['control', '.ts'],
    ['trace', '.sql'],
  ])('in %s are those of checksums.json: one that has landed is never edited', async (store, extension) => {
    const landed = JSON.parse(await readFile(join(MIGRATIONS, 'checksums.json'), 'utf8')) as object
    const present = await readMigrationChecksums(join(MIGRATIONS, store), extension)
    expect(Object.fromEntries(present)).toEqual(Reflect.get(landed, store))
  })

  it('do not count line endings, which git may change', async () => {
    const folder = await copied('trace')
    const before = await readMigrationChecksums(folder, '.sql')
    const file = join(folder, '0007_annotation_queue_calls.sql')
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('\n', '\r\n'))
    expect(await readMigrationChecksums(folder, '.sql')).toEqual(before)
  })
})

describe('migrateControlDb', () => {
  it('runs each once, and refuses one that was edited since, by its name', async () => {
    const folder = await copied('control')
    await using db = openSqlite(await mkdtemp(join(tmpdir(), 'heddle-control-')))
    await migrateControlDb(db, folder)
    await migrateControlDb(db, folder)
    await appendFile(join(folder, '0003-contents.ts'), '\n// more')
    await expect(migrateControlDb(db, folder)).rejects.toThrow(/0003-contents\.ts is not the one .* applied/)
  })

  it('refuses those of a newer release, also of one that ended before it recorded their checksums', async () => {
    await using db = openSqlite(await mkdtemp(join(tmpdir(), 'heddle-control-')))
    await migrateControlDb(db)
    const timestamp = new Date().toISOString()
    await db.insertInto('kysely_migration').values({ name: '9999-newer.ts', timestamp }).execute()
    await expect(migrateControlDb(db)).rejects.toThrow(/by a newer release: .*9999-newer\.ts/)
  })

  it('assumes the present migrations for an older build, which kept no checksums', async () => {
    const folder = await copied('control')
    await using db = openSqlite(await mkdtemp(join(tmpdir(), 'heddle-control-')))
    await migrateControlDb(db, folder)
    await db.schema.dropTable('migration_checksums').execute()
    await migrateControlDb(db, folder)
    const kept = await db.selectFrom('migration_checksums').selectAll().orderBy('name').execute()
    expect(new Map(kept.map(({ name, checksum }) => [name, checksum]))).toEqual(
      await readMigrationChecksums(folder, '.ts'),
    )
  })
})

describe('migrateTraceDb', () => {
  it('runs each once; refuses one that was edited or is missing; an older folder gets the present ones', async () => {
    const folder = await copied('trace')
    await using db = await openEmbedded(await mkdtemp(join(tmpdir(), 'heddle-trace-')), SILENT)
    await migrateTraceDb(db, folder)
    await migrateTraceDb(db, folder)
    await db.command({ sql: 'ALTER TABLE migrations DROP COLUMN checksum', params: {} })
    await migrateTraceDb(db, folder)
    const sql = 'SELECT name, checksum FROM migrations FINAL'
    const kept = await rowsOf(db.query<{ name: string; checksum: string }>({ sql, params: {} }))
    expect(new Map(kept.map(({ name, checksum }) => [name, checksum]))).toEqual(
      await readMigrationChecksums(folder, '.sql'),
    )
    const edited = join(folder, '0003_costs.sql')
    await appendFile(edited, '-- more')
    await expect(migrateTraceDb(db, folder)).rejects.toThrow(/0003_costs\.sql is not the one .* applied/)
    await rename(edited, `${edited}.gone`)
    await expect(migrateTraceDb(db, folder)).rejects.toThrow(/newer release: this one has no .*0003_costs/)
  })
})
