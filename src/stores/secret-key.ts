/** The key of this server, from which all other keys derive: what hashes and seals secrets at rest. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMissing } from './disk-errors.ts'

/** In the data folder, where no other key was given. Backups do not contain it. */
const FILE_NAME = 'secret.key'

/** Precedes the text of such a file where that is given as a setting, as servers without that folder need it. */
const OF_FILE = `${FILE_NAME}:`

/** Where the key of a data folder is, where no other was given. */
export function secretKeyFile(folder: string): string {
  return join(folder, FILE_NAME)
}

const KEY_BYTES = 32

/** The recommended size of a nonce of AES-GCM. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Names the format of a sealed text, so that it can change. */
const SEALED_PREFIX = 'sealed1:'

/** Hashes and seals secrets. */
export interface SecretKey {
  /** HMAC-SHA-256 under a key of its own for each purpose, hexadecimal. */
  hash(purpose: string, text: string): string
  /** Encrypts a text with AES-256-GCM; each time differently. */
  seal(text: string): string
  /** @throws Error for a text that was changed or was sealed under another key. */
  unseal(sealed: string): string
}

/**
 * Reads the key of a data folder, or makes one.
 * @param given the key itself, from the environment or a file named there: any text, or the one of a data folder's file
 * after
 *   `secret.key:`
 * @throws Error for a file that holds no key
 */
export async function openSecretKey(folder: string, given: string | undefined): Promise<SecretKey> {
  return (await findSecretKey(folder, given)) ?? createSecretKey(await make(secretKeyFile(folder)))
}

/** The same, and undefined for a folder that has none. */
export async function findSecretKey(
  folder: string,
  given: string | undefined,
): Promise<SecretKey | undefined> {
  if (given?.startsWith(OF_FILE))
    return createSecretKey(
      decoded(given.slice(OF_FILE.length), 'The text after secret.key: in HEDDLE_SECRET_KEY'),
    )
  if (given !== undefined) return createSecretKey(Buffer.from(given))
  const material = await read(secretKeyFile(folder))
  return material && createSecretKey(material)
}

/** @param material at least 32 bytes that no one can guess */
export function createSecretKey(material: Uint8Array): SecretKey {
  const keys = new Map<string, Buffer>()

  function keyFor(purpose: string): Buffer {
    const known = keys.get(purpose)
    if (known !== undefined) return known
    const key = Buffer.from(hkdfSync('sha256', material, '', `heddle ${purpose}`, KEY_BYTES))
    keys.set(purpose, key)
    return key
  }

  return {
    hash: (purpose, text) => createHmac('sha256', keyFor(purpose)).update(text).digest('hex'),

    seal(text) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyFor('seal'), nonce)
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return SEALED_PREFIX + sealed.toString('base64url')
    },

    unseal(sealed) {
      if (!sealed.startsWith(SEALED_PREFIX)) throw new Error('The text is not sealed')
      const bytes = Buffer.from(sealed.slice(SEALED_PREFIX.length), 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', keyFor('seal'), bytes.subarray(0, NONCE_BYTES))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      const middle = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
      return Buffer.concat([decipher.update(middle), decipher.final()]).toString('utf8')
    },
  }
}

async function read(path: string): Promise<Buffer | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  return text === undefined ? undefined : decoded(text, path)
}

function decoded(text: string, place: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64url')
  if (key.length !== KEY_BYTES) throw new Error(`${place} does not hold a key of ${KEY_BYTES} bytes`)
  return key
}

/**
 * Makes the file for its owner alone, and on disk before anything depends on it. It has its name once it is whole:
 * without its key no server would start again.
 */
async function make(path: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES)
  const aside = `${path}.new`
  // One that an earlier start has left.
  await rm(aside, { force: true })
  await using file = await open(aside, 'wx', 0o600)
  await file.writeFile(`${key.toString('base64url')}\n`)
  await file.sync()
  await rename(aside, path)
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
  return key
}
