/**
 * The server's modules as a few files in `dist/server`: to find, read and link two thousand modules takes half of the
 * time of a start. `node src/main.ts` runs the same server from its sources.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { lockFolder } from './folder-lock.mjs'
import { showProgress } from './progress.ts'
import { ROOT } from './repository.ts'

const FOLDER = join(ROOT, 'dist/server')

/** The server from its sources. */
export const SERVER_SOURCE = join(ROOT, 'src/main.ts')

/** The built server, for `node`. */
export const SERVER_PROGRAM = join(FOLDER, 'main.js')

/** Names the files that the build was made of, with their hashes. */
const STAMP = join(FOLDER, 'built-from.json')

/**
 * Packages that stay packages: those with native code or files of their own, one that looks for others by names made at
 * run time (protobufjs), and those whose modules a server loads long after its start, when another build may be in this
 * folder.
 */
const PACKAGES = ['@aws-sdk', '@smithy', 'chdb', 'ffi-rs', 'openai', 'pg', 'protobufjs']

/** Decide the build too. */
const ALWAYS_OF = [join(ROOT, 'package-lock.json'), import.meta.filename]

/** Builds the server where its sources have changed since it was built. @throws Error where they cannot be bundled */
export async function ensureServer(): Promise<void> {
  if (isCurrent()) return
  const release = await lockFolder(FOLDER)
  try {
    if (isCurrent()) return
    const progress = showProgress('server')
    await build().then(progress.done, (error: unknown) => {
      progress.failed()
      throw error
    })
  } finally {
    release()
  }
}

function isCurrent(): boolean {
  if (!existsSync(STAMP)) return false
  const hashes: Record<string, string> = JSON.parse(readFileSync(STAMP, 'utf8'))
  return Object.entries(hashes).every(([file, hash]) => {
    const path = join(ROOT, file)
    return existsSync(path) && hashOf(readFileSync(path)) === hash
  })
}

function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

async function build(): Promise<void> {
  const { rolldown } = await import('rolldown')
  const built = join(ROOT, 'dist-new/server')
  const hashes = Object.fromEntries(
    ALWAYS_OF.map((file) => [relative(ROOT, file), hashOf(readFileSync(file))]),
  )
  /** Notes a source as the bundler has read it, since it may change meanwhile. */
  function transform(code: string, file: string): { code: string } {
    if (file.startsWith(ROOT) && !file.includes('/node_modules/')) hashes[relative(ROOT, file)] = hashOf(code)
    return { code: withPathsOf(file, code) }
  }
  await using bundle = await rolldown({
    input: SERVER_SOURCE,
    platform: 'node',
    external: PACKAGES.map((name) => new RegExp(`^${name}(/|$)`)),
    plugins: [{ name: 'sources', transform }],
    onLog: (_, { message }) => {
      throw new Error(message)
    },
  })
  await bundle.write({
    dir: built,
    // Without hashes in their names, the compiled code of an earlier build is replaced, not kept beside it.
    chunkFileNames: '[name].js',
  })
  writeFileSync(join(built, 'built-from.json'), JSON.stringify(hashes))
  mkdirSync(dirname(FOLDER), { recursive: true })
  rmSync(FOLDER, { recursive: true, force: true })
  renameSync(built, FOLDER)
}

/** A module finds the files beside it, and its threads, where its source is. */
function withPathsOf(file: string, code: string): string {
  const path = relative(FOLDER, file)
  const paths = {
    dirname: `(import.meta.dirname + ${JSON.stringify(`/${dirname(path)}`)})`,
    filename: `(import.meta.dirname + ${JSON.stringify(`/${path}`)})`,
    url: `new URL(${JSON.stringify(path)}, import.meta.url).href`,
  }
  return code.replaceAll(
    /\bimport\.meta\.(dirname|filename|url)\b/g,
    (_, name: keyof typeof paths) => paths[name],
  )
}
