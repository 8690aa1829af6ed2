import { basename } from 'node:path'

/** Names are parts of letters, digits, `_`, `-`, `.`, so that none can leave the root. */
const NAME_PATTERN = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/

const NO_FILES = new Set(['', '.', '..'])

/** The name itself. @throws Error for one that no folder of a workspace may have */
export function folderName(folder: string): string {
  if (!NAME_PATTERN.test(folder)) throw new Error(`Bad name of a folder in the workspace: ${folder}`)
  return folder
}

/** The name itself. @throws Error for one that no file in a folder may have */
export function fileName(name: string): string {
  if (name !== basename(name) || NO_FILES.has(name))
    throw new Error(`Bad name of a file in the workspace: ${name}`)
  return name
}
