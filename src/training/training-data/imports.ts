import { createReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { invalidRequest, messageOf, notFound } from '../../errors.ts'

export const FILE_PREFIX = 'file://'

/** Only files in this folder may be trained on; the data folder's other files belong to the server. */
const IMPORTS_FOLDER = 'imports'

/**
 * Reads a file that the operator has put into the folder for imports.
 * @throws 400 for a path outside that folder, existing or not, links included; 404.
 */
export async function readImport(dataFolder: string, url: string): Promise<AsyncIterable<Uint8Array>> {
  const named = pathOf(url)
  const folder = join(dataFolder, IMPORTS_FOLDER)
  if (!isBelow(folder, named)) throw outside()
  const path = await realpath(named).catch(() => undefined)
  if (path === undefined) throw notFound('file', url, { param: 'training_data_url' })
  if (!isBelow(await realpath(folder), path) || !(await stat(path)).isFile()) throw outside()
  return createReadStream(path)
}

/** A name below a folder, not resolved. */
function isBelow(folder: string, path: string): boolean {
  return resolve(path).startsWith(resolve(folder) + sep)
}

function outside(): Error {
  return invalidRequest(
    `${FILE_PREFIX} URLs name files in the folder "${IMPORTS_FOLDER}" of the data folder: the operator of this server can put some there`,
    'training_data_url',
  )
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch (error) {
    throw invalidRequest(`${messageOf(error)}: ${url}`, 'training_data_url')
  }
}
