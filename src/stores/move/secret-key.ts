import { constants } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { findSecretKey, openSecretKey, type SecretKey, secretKeyFile } from '../secret-key.ts'

/** A data folder, and the key that the settings of its server give. */
export interface KeyPlace {
  dataFolder: string
  secretKey: string | undefined
}

/**
 * Gives a data folder the key of another, which belongs to the data: it has hashes and secrets under it. Where one of
 * them has its key as a setting, both are only compared. Resolves with the target's.
 * @throws Error where the target has another key, or none
 */
export async function moveSecretKey(source: KeyPlace, target: KeyPlace): Promise<SecretKey> {
  if (source.secretKey === undefined && target.secretKey === undefined) await copyKeyFile(source, target)
  const before = await openSecretKey(source.dataFolder, source.secretKey)
  const after = await findSecretKey(target.dataFolder, target.secretKey)
  if (after !== undefined && after.hash('same key', '') === before.hash('same key', '')) return after
  const has = after === undefined ? 'no secret key, and with a new one' : 'another secret key, under which'
  const wanted =
    source.secretKey === undefined
      ? `HEDDLE_SECRET_KEY=secret.key:TEXT with the text of ${secretKeyFile(source.dataFolder)}`
      : 'the HEDDLE_SECRET_KEY of the source'
  throw new Error(`The target has ${has} no API key would be valid: give it ${wanted}`)
}

/** One that is there stays. */
async function copyKeyFile(source: KeyPlace, target: KeyPlace): Promise<void> {
  await mkdir(target.dataFolder, { recursive: true })
  const files = [secretKeyFile(source.dataFolder), secretKeyFile(target.dataFolder)] as const
  await copyFile(...files, constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
