import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Finding } from '../scripts/heddle/doctor/check.ts'
import { adviceOn, dataChecks, storeChecks } from '../scripts/heddle/doctor/data-checks.ts'
import { readConfig } from '../src/config.ts'
import { createLog } from '../src/log.ts'
import { openControlDb } from '../src/open-control-db.ts'
import { placesOf } from '../src/open-stores.ts'
import { beginMove, finishMoves, type StoreMove } from '../src/stores/move/records.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-doctor-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What the doctor finds of one thing in a data folder. */
async function findingOf(name: string, data: string, env: NodeJS.ProcessEnv = {}): Promise<Finding> {
  const config = readConfig({ ...env, HEDDLE_DATA: data })
  const checks = [...dataChecks(config), ...storeChecks(config)]
  const check = checks.find((one) => one.name === name)
  if (check === undefined) throw new Error(`There is no check ${name}`)
  return check.run()
}

/** A data folder with a control database, which notes a move of the trace database away from it or to it. */
async function movedFolder(name: string, state: 'finished' | 'begun'): Promise<string> {
  const data = join(folder, name)
  await mkdir(data)
  const log = createLog({ logLevel: 'silent', logFormat: 'json' })
  await using opened = await openControlDb({ dataFolder: data }, log, () => undefined)
  const [here, elsewhere] = [placesOf({ dataFolder: data }).trace_db, 'http://elsewhere:8123/heddle']
  const away: StoreMove = { store: 'trace_db', from: here, to: elsewhere }
  if (state === 'finished') await finishMoves(opened.control, [away])
  else await beginMove(opened.control, { store: 'trace_db', from: elsewhere, to: here })
  return data
}

describe('heddle doctor looks for moves', () => {
  it('and fails where a store was moved away, as a start does, unless the settings name the new place', async () => {
    const data = await movedFolder('away', 'finished')
    await expect(findingOf('moves', data)).rejects.toThrow('run "heddle move --forget"')
    const env = { HEDDLE_CLICKHOUSE_URL: 'http://elsewhere:8123/heddle' }
    expect(await findingOf('moves', data, env)).toMatchObject({ status: 'ok' })
  })

  it('and fails where a move to the folder has not ended', async () => {
    const data = await movedFolder('half', 'begun')
    await expect(findingOf('moves', data)).rejects.toThrow('run "heddle move" again')
  })
})

describe('heddle doctor looks at the secret key', () => {
  it('and fails for a file that holds none, or a part of one', async () => {
    for (const text of ['', 'AAAA\n']) {
      const data = await mkdtemp(join(folder, 'key-'))
      await writeFile(join(data, 'secret.key'), text)
      expect(await findingOf('secret key', data)).toMatchObject({
        status: 'failed',
        detail: expect.stringContaining('does not hold a key of 32 bytes'),
      })
      const given = { HEDDLE_SECRET_KEY: 'x'.repeat(32) }
      expect(await findingOf('secret key', data, given)).toMatchObject({ status: 'ok' })
    }
  })

  it('and warns where there is data and no key, as after a restore', async () => {
    const data = await movedFolder('restored', 'finished')
    expect(await findingOf('secret key', data)).toMatchObject({ status: 'warning' })
    expect(await findingOf('secret key', join(folder, 'new'))).toMatchObject({ status: 'ok' })
  })
})

describe('heddle doctor looks who may use the data folder', () => {
  it('and warns where others than its owner may, with the command that keeps them out', async () => {
    const data = join(folder, "ada's data")
    await mkdir(data)
    await chmod(data, 0o755)
    expect(await findingOf('permissions', data)).toEqual({
      status: 'warning',
      detail: `${data} is open to all users of this machine (mode 755)`,
      fix: `chmod go-rwx '${folder}/ada'\\''s data'`,
    })
    await chmod(data, 0o700)
    expect(await findingOf('permissions', data)).toMatchObject({ status: 'ok' })
  })

  it.each([
    ['EACCES', 'chown -R "$(id -un)" \'/my data\''],
    ['EROFS', 'mount its file system for writing, or set HEDDLE_DATA to a folder of another one'],
    ['EIO', 'see the message, or set HEDDLE_DATA to another folder'],
  ])('and advises by the reason of the system: %s', (code, advice) => {
    expect(adviceOn(Object.assign(new Error(code), { code }), '/my data')).toBe(advice)
  })

  it('and fails for one that cannot be made', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    expect(await findingOf('data folder', join(file, 'data'))).toMatchObject({ status: 'failed' })
  })
})
