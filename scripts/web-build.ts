/** What set-up needs to know to build the web UI: its sources by content, and its files compressed for the wire. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/** What the build depends on; wire schemas because the pages take their types, and may check with them. */
const SOURCES = /^(web\/.*|src\/(.*wire|json\/lossless-json|json\/json-limits)\.ts)$/
const NO_SOURCES = /^web\/dist|\.(md|test\.ts)$/

/** A smaller file fits one packet as it is. */
const COMPRESSED_BYTES_MIN = 1024

const STAMP = 'built-from'

/** The hash of all sources when the build in `web/dist` is not of them; undefined when it is. */
export function outdatedWeb(root: string): string | undefined {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  const files = ['web', 'src'].flatMap((folder) => filesBelow(join(root, folder)))
  const sources = files
    .map((file) => relative(root, file))
    .filter((file) => SOURCES.test(file) && !NO_SOURCES.test(file))
  for (const file of sources.sort()) hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  const wanted = hash.digest('hex')
  const stamp = join(root, 'web/dist', STAMP)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted ? undefined : wanted
}

/** Compresses a finished build and puts it in the place of the one before. */
export function finishWeb(root: string, hash: string): void {
  const built = join(root, 'web/dist-new')
  for (const file of filesBelow(built)) {
    const bytes = readFileSync(file)
    if (bytes.length < COMPRESSED_BYTES_MIN) continue
    writeFileSync(`${file}.br`, brotliCompressSync(bytes))
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  }
  writeFileSync(join(built, STAMP), hash)
  rmSync(join(root, 'web/dist'), { recursive: true, force: true })
  renameSync(built, join(root, 'web/dist'))
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
