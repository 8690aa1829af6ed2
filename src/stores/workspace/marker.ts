import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * In the root of a workspace that is a folder: says that its folders may be removed, and tells it from others; nodes of
 * Ray look for it (engine/src/engine/remote.py).
 */
const MARKER_FILE = '.heddle-workspace'

/**
 * What is in a workspace of a version that made no marker: folders by ids and digests, and those of logs and of copies.
 */
const FOLDERS = new Set(['adapters', 'checkpoints', 'data', 'jobs', 'outputs'])
const NAME_IN_FOLDER = /^[0-9a-f-]{32,}(?:\.[\w-]+)*$/
const OTHER_FOLDERS = new Set(['copies', 'logs'])

/**
 * What the marker of a workspace says; the first server that uses the folder writes it.
 * @throws Error for a folder with files that Heddle has not made, since a start removes what it finds
 */
export function markerOf(root: string): string {
  const path = join(root, MARKER_FILE)
  mkdirSync(root, { recursive: true })
  if (!existsSync(path)) {
    const foreign = foreignIn(root)
    if (foreign !== undefined)
      throw new Error(
        `${root} has ${foreign}, which Heddle has not made. It removes what its engine's folder holds: HEDDLE_ENGINE_FOLDER must name an empty folder, or one that does not exist yet`,
      )
    writeFileSync(path, randomUUID())
  }
  return readFileSync(path, 'utf8').trim()
}

/** The first name in a folder that no workspace has. */
function foreignIn(root: string): string | undefined {
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (OTHER_FOLDERS.has(entry.name)) continue
    if (!entry.isDirectory() || !FOLDERS.has(entry.name)) return entry.name
    const foreign = readdirSync(join(root, entry.name)).find((name) => !NAME_IN_FOLDER.test(name))
    if (foreign !== undefined) return join(entry.name, foreign)
  }
  return undefined
}
