import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/**
 * Names of the files below a folder that contain a text. Files and folders come and go while a server runs; those that
 * went are left out. Files of the database are compressed, but for what is unique in them.
 */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = []
  for (const path of await filesBelow(folder)) {
    const bytes = await readFile(path).catch(() => Buffer.of())
    if (bytes.includes(text)) found.push(relative(folder, path))
  }
  return found
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found: string[] = []
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...(await filesBelow(path)))
    else if (entry.isFile()) found.push(path)
  }
  return found
}
