import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'

/** What a node needs of the engine: its code, and the base models that ship with it. */
const FOLDERS = ['src', 'models']

/** Left by an interpreter or an editor. */
const NO_SOURCES = /(^|\/)(__pycache__|\.)/

/** The engine as nodes get it. */
export interface EnginePackage {
  /** Follows from its content, so that nodes keep one that they have. */
  name: string
  bytes: () => Promise<Uint8Array>
}

/**
 * Packs the engine of a checkout, so that nodes run the code of this server.
 * @param engineFolder `engine` of the checkout
 */
export async function packEngine(engineFolder: string): Promise<EnginePackage> {
  const names = await namesBelow(engineFolder)
  const hash = createHash('sha256')
  for (const name of names) {
    const content = await readFile(join(engineFolder, name))
    hash.update(`${name} ${content.length}\n`).update(content)
  }
  return {
    // Wire: Ray's own packages have such names, and the end says how they are packed.
    name: `_ray_pkg_${hash.digest('hex').slice(0, 32)}.tar.gz`,
    async bytes() {
      const archive = pack()
      const packed = buffer(archive.pipe(createGzip()))
      for (const name of names)
        archive.entry({ name, mtime: new Date(0) }, await readFile(join(engineFolder, name)))
      archive.finalize()
      return packed
    },
  }
}

async function namesBelow(engineFolder: string): Promise<string[]> {
  const lists = await Promise.all(
    FOLDERS.map((folder) => readdir(join(engineFolder, folder), { recursive: true, withFileTypes: true })),
  )
  return lists
    .flat()
    .filter((entry) => entry.isFile())
    .map((entry) => relative(engineFolder, join(entry.parentPath, entry.name)))
    .filter((name) => !NO_SOURCES.test(name))
    .sort()
}
