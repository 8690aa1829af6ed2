import { createLimitedWork } from '../../threads/limited-work.ts'
import { parseManifest, type ReadManifest } from './manifest.ts'

/** Bytes of a manifest, of some 500 files, that is read on the thread that serves, in some 5 ms. */
const BYTES_HERE_MAX = 64 * 1024

const read = createLimitedWork<Uint8Array, ReadManifest>({
  program: new URL('./read-manifest-worker.ts', import.meta.url),
  does: 'read the manifest of an artifact',
  // The largest manifest takes some 4 s, and one that is refused for its millions of files 9 s.
  msMax: 30_000,
  memoryMbMax: 2048,
})

/**
 * Reads what a client of an entity uploaded, in a thread where that may take long.
 * @throws as `parseManifest`, 413 for what takes too long or too much memory, 503 without a thread
 */
export async function readManifest(bytes: Uint8Array, entity: string): Promise<ReadManifest> {
  return bytes.byteLength <= BYTES_HERE_MAX ? parseManifest(bytes) : read(entity, bytes)
}
