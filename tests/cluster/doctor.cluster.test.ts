import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Finding } from '../../scripts/heddle/doctor/check.ts'
import { dataChecks, storeChecks } from '../../scripts/heddle/doctor/data-checks.ts'
import { environmentChecks } from '../../scripts/heddle/doctor/environment-checks.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { openBlobs } from '../../src/open-blobs.ts'
import { openControlDb, readControlDb } from '../../src/open-control-db.ts'
import { placesOf } from '../../src/open-stores.ts'
import type { ControlDb } from '../../src/stores/control-db/port.ts'
import { beginMove, finishMoves } from '../../src/stores/move/records.ts'
import { openSecretKey } from '../../src/stores/secret-key.ts'
import { SILENT } from '../../src/test-log.ts'
import { storesOnServers } from '../../src/testing.ts'

const ELSEWHERE = 'http://elsewhere:8123/heddle'

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'heddle-doctor-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** The settings of a new server with an empty folder whose control database and files are elsewhere. */
async function newConfig(): Promise<Config> {
  const { postgres, s3 } = await storesOnServers()
  if (postgres === undefined || s3 === undefined) throw new Error('No servers')
  return readConfig({
    HEDDLE_DATA: await mkdtemp(join(root, 'data-')),
    HEDDLE_POSTGRES_URL: postgres.url,
    HEDDLE_S3_URL: `s3://${s3.bucket}/${s3.prefix}`,
    HEDDLE_S3_ENDPOINT: s3.endpoint ?? '',
  })
}

async function findingOf(name: string, config: Config): Promise<Finding> {
  const checks = [...environmentChecks(config), ...dataChecks(config), ...storeChecks(config)]
  const check = checks.find((one) => one.name === name)
  if (check === undefined) throw new Error(`There is no check ${name}`)
  return check.run()
}

/** The same settings once a server has used them, and what it left in the control database. */
async function used(change: (control: ControlDb, config: Config) => Promise<unknown>): Promise<Config> {
  const config = await newConfig()
  await using opened = await openControlDb(config, SILENT, () => undefined)
  await change(opened.control, config)
  return config
}

describe('heddle doctor with PostgreSQL', () => {
  it('finds a store that was moved away, unless the settings name the new place', async () => {
    const config = await used((control, here) =>
      finishMoves(control, [{ store: 'trace_db', from: placesOf(here).trace_db, to: ELSEWHERE }]),
    )
    await expect(findingOf('moves', config)).rejects.toThrow('The trace database was moved from')
    const after = { ...config, clickhouse: { url: ELSEWHERE } }
    expect(await findingOf('moves', after)).toMatchObject({ status: 'ok' })
  })

  it('finds a move into it that has not ended', async () => {
    const config = await used((control, here) =>
      beginMove(control, { store: 'control_db', from: '/elsewhere', to: placesOf(here).control_db }),
    )
    await expect(findingOf('moves', config)).rejects.toThrow('run "heddle move" again')
  })

  it('compares the migrations there, and looks for the secret key of its data', async () => {
    const config = await newConfig()
    expect(await findingOf('migrations', config)).toMatchObject({ detail: 'There is no data yet' })
    expect(await findingOf('moves', config)).toMatchObject({ status: 'ok' })
    expect(await findingOf('secret key', config)).toMatchObject({ status: 'ok' })
    // A server that runs holds the database.
    await using opened = await openControlDb(config, SILENT, () => undefined)
    expect(await findingOf('migrations', config)).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/^All \d+ are applied$/),
    })
    expect(await findingOf('secret key', config)).toMatchObject({ status: 'warning' })
    const newer = { name: '9999_newer.ts', checksum: 'x' }
    await opened.control.insertInto('migration_checksums').values(newer).execute()
    expect(await findingOf('migrations', config)).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('9999_newer.ts'),
    })
  })

  it('cannot change anything there', async () => {
    const config = await used(async () => undefined)
    await using control = await readControlDb(config)
    await expect(control?.deleteFrom('migration_checksums').execute()).rejects.toThrow()
    expect(await findingOf('migrations', config)).toMatchObject({
      detail: expect.stringMatching(/^All \d+ are applied$/),
    })
  })
})

describe('heddle doctor with S3', () => {
  it('fails where the files are of servers with another key, and takes no prefix itself', async () => {
    const config = await newConfig()
    expect(await findingOf('file store', config)).toMatchObject({ status: 'ok' })
    const key = await openSecretKey(config.dataFolder, undefined)
    {
      await using _blobs = await openBlobs(config, key, SILENT)
    }
    expect(await findingOf('file store', config)).toMatchObject({ status: 'ok' })
    const refused = {
      status: 'failed',
      detail: expect.stringContaining('belong to servers with another HEDDLE_SECRET_KEY'),
    }
    expect(await findingOf('file store', { ...config, secretKey: 'x'.repeat(40) })).toMatchObject(refused)
    // A start would make another key.
    await rm(join(config.dataFolder, 'secret.key'))
    expect(await findingOf('file store', config)).toMatchObject(refused)
  })
})
