import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FOLDER_MODE } from '../folder-mode.ts'

/** What was read of a stream. */
export interface Digest {
  size: number
  /** Hexadecimal. */
  sha256: string
}

/** Measures and hashes bytes as they pass. */
export function createMeter(): {
  pass(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>
  digest(): Digest
} {
  const hash = createHash('sha256')
  let size = 0
  return {
    async *pass(bytes) {
      for await (const chunk of bytes) {
        hash.update(chunk)
        size += chunk.byteLength
        yield chunk
      }
    },
    digest: () => ({ size, sha256: hash.digest('hex') }),
  }
}

/** Writes a new file, and its folder; its bytes are on disk once this resolves. */
export async function writeDurably(path: string, bytes: AsyncIterable<Uint8Array>): Promise<Digest> {
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE })
  await using file = await open(path, 'wx', FILE_MODE)
  const meter = createMeter()
  await file.writeFile(meter.pass(bytes))
  await file.sync()
  return meter.digest()
}

/** Owner only, as of their folders. */
export const FILE_MODE = 0o600

/** The bytes of a file, which is opened when they are first asked for. */
export async function* bytesOf(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { ...(signal && { signal }) })
}

/** Puts the names in a folder on disk. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r')
  await folder.sync()
}
