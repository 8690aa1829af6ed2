import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSecretKey, secretKeyFile } from '../secret-key.ts'
import { moveSecretKey } from './secret-key.ts'

const GIVEN = 'a key that is long enough to be one of a server'

let root = ''
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'heddle-keys-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** A data folder whose server has a key as a setting, or in a file. */
const place = (name: string, secretKey?: string) => ({ dataFolder: join(root, name), secretKey })

describe('the secret key of a move', () => {
  it('is copied to a new data folder', async () => {
    await openSecretKey(root, undefined)
    const key = await moveSecretKey(place('.'), place('new'))
    expect(key.hash('a', 'b')).toBe((await openSecretKey(root, undefined)).hash('a', 'b'))
    expect(existsSync(secretKeyFile(join(root, 'new')))).toBe(true)
  })

  it.each(['.', 'new'])(
    'is compared where the source has it as a setting, and none is made: %s',
    async (to) => {
      await expect(moveSecretKey(place('.', GIVEN), place(to))).rejects.toThrow(
        'The target has no secret key, and with a new one no API key would be valid: give it the HEDDLE_SECRET_KEY of the source',
      )
      expect(existsSync(secretKeyFile(join(root, to)))).toBe(false)
      expect(await moveSecretKey(place('.', GIVEN), place(to, GIVEN))).toBeDefined()
    },
  )

  it('is compared with that of the target where the data folder stays', async () => {
    await openSecretKey(root, undefined)
    const file = secretKeyFile(root)
    await expect(moveSecretKey(place('.'), place('.', GIVEN))).rejects.toThrow(
      `The target has another secret key, under which no API key would be valid: give it HEDDLE_SECRET_KEY=secret.key:TEXT with the text of ${file}`,
    )
    const text = (await readFile(file, 'utf8')).trim()
    expect(await moveSecretKey(place('.'), place('.', `secret.key:${text}`))).toBeDefined()
  })
})
