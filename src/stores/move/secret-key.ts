import { constants } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { openSecretKey, secretKeyFile } from '../secret-key.ts'

/** A data folder, and the key that the settings of its server give. */
export interface KeyPlace {
  dataFolder: string
  secretKey: string | undefined
}

/**
 * Gives a data folder the key of another, which belongs to the data: it has hashes and secrets under it.
 * @throws Error where the target has another key
 */
export async function moveSecretKey(source: KeyPlace, target: KeyPlace): Promise<void> {
  if (source.secretKey === undefined && target.secretKey === undefined) {
    await mkdir(target.dataFolder, { recursive: true })
    // One that is there is compared.
    const files = [secretKeyFile(source.dataFolder), secretKeyFile(target.dataFolder)] as const
    await copyFile(...files, constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
  const keys = [source, target].map(({ dataFolder, secretKey }) => openSecretKey(dataFolder, secretKey))
  const [before, after] = (await Promise.all(keys)).map((key) => key.hash('same key', ''))
  if (before !== after)
    throw new Error(
      'The target has another secret key, under which no API key would be valid: give it the HEDDLE_SECRET_KEY of the source, ' +
        `or secret.key:TEXT with the text of ${secretKeyFile(source.dataFolder)}`,
    )
}
