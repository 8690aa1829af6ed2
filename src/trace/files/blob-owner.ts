import type { BlobOwner } from '../../blob-sweep.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { selectKnown } from './queries.ts'

/** Below which prefix the bytes of files are. */
const PREFIX = 'files/'

/** The key of a file's bytes, shared by all projects with the file. */
export function blobKey(digest: string): string {
  return `${PREFIX}${digest.slice(0, 2)}/${digest}`
}

/** Files own their bytes. */
export function filesOwner(traces: TraceDb): BlobOwner {
  return {
    prefix: PREFIX,
    async ownedOf(keys) {
      const digests = keys.map((key) => key.slice(key.lastIndexOf('/') + 1))
      const rows = await rowsOf(traces.query<{ digest: string }>(selectKnown(digests)))
      return new Set(rows.map(({ digest }) => blobKey(digest)))
    },
  }
}
