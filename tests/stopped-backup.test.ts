import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { backupStopped } from '../scripts/heddle/stopped-backup.ts'
import { placesOf } from '../src/open-stores.ts'
import { openSqlite } from '../src/stores/control-db/sqlite.ts'
import type { MovedStore } from '../src/stores/move/move-options.ts'
import { beginMove, finishMoves } from '../src/stores/move/records.ts'
import { heddle } from './run-command.ts'

let folder = ''
let data = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-stopped-'))
  data = join(folder, 'data')
  await cp(inject('migratedFolder'), data, { recursive: true, verbatimSymlinks: true })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const back = () => backupStopped(data, join(folder, 'backup'), undefined)

async function refused(message: string): Promise<void> {
  await expect(back()).rejects.toThrow(message)
  expect(await readdir(folder)).toEqual(['data'])
}

/** Notes that a store was moved from the folder, or into it and not to its end. */
async function note(store: MovedStore, way: 'from it' | 'into it, in part'): Promise<void> {
  await using control = openSqlite(data)
  const here = placesOf({ dataFolder: data })[store]
  if (way === 'from it') await finishMoves(control, [{ store, from: here, to: 'elsewhere' }])
  else await beginMove(control, { store, from: 'elsewhere', to: here })
}

describe('heddle backup of a folder that no server holds', () => {
  it.each([
    ['trace_db', 'The trace database was moved from'],
    ['control_db', 'The control database was moved from'],
    ['blobs', 'The file store was moved from'],
  ] as const)('is refused where %s was moved away', async (store, message) => {
    await note(store, 'from it')
    await refused(message)
  })

  it('is refused where a move into it is not finished', async () => {
    await note('trace_db', 'into it, in part')
    await refused('is not finished')
  })

  it.each([
    ['trace-db', 'the trace database on ClickHouse'],
    ['blobs', 'the files on S3'],
  ])('is refused where it never had %s', async (name, message) => {
    await rm(join(data, name), { recursive: true })
    await refused(`A backup would lack ${message}`)
  })

  it('is written of a folder of a release that moved nothing yet', async () => {
    using control = new DatabaseSync(join(data, 'control.sqlite'))
    control.exec('DROP TABLE moves')
    expect(await back()).toMatchObject({ path: join(folder, 'backup') })
  })
})

describe('heddle restore', () => {
  it('refuses what a newer release migrated and then ended, which doctor finds too', async () => {
    {
      using control = new DatabaseSync(join(data, 'control.sqlite'))
      control.exec("INSERT INTO kysely_migration VALUES ('9999-newer.ts', '2026-01-01T00:00:00.000Z')")
    }
    const { out } = await heddle(['doctor', '--data', data, '--json'])
    expect(out).toContain('migrated by a newer release: this one has no migration 9999-newer.ts')
    const { path } = await back()
    const { code, err } = await heddle(['restore', path, '--data', join(folder, 'restored')])
    expect([code, err]).toEqual([1, expect.stringContaining('has the migration 9999-newer.ts')])
  })

  it('says what is there again, and how to start with its folder, as a shell reads that', async () => {
    const { path, taken_at } = await back()
    const restored = join(folder, 'r ü')
    const { code, out } = await heddle(['restore', path, '--data', restored])
    expect([code, out]).toEqual([0, expect.stringContaining(`heddle serve --data '${restored}'\n`)])
    expect(out).toContain(
      `Keys revoked, and members, users and projects removed or erased, after ${taken_at}`,
    )
  })

  it('makes the folder that HEDDLE_DATA names, where no option does', async () => {
    const { path } = await back()
    const restored = join(folder, 'named')
    expect(await heddle(['restore', path], folder, { HEDDLE_DATA: restored })).toMatchObject({ code: 0 })
    expect(existsSync(join(restored, 'control.sqlite'))).toBe(true)
  })
})
