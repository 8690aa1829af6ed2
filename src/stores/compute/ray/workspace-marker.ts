import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** In the root of the workspace, by which nodes tell it from other folders (engine/src/engine/remote.py). */
const MARKER_FILE = '.heddle-workspace'

/** What the marker of a workspace says; the first server that uses the folder writes it. */
export function markerOf(folder: string): string {
  const path = join(folder, MARKER_FILE)
  mkdirSync(folder, { recursive: true })
  if (!existsSync(path)) writeFileSync(path, randomUUID())
  return readFileSync(path, 'utf8').trim()
}
