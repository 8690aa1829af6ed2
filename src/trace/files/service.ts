import type { Projects } from '../../accounts/projects.ts'
import { notFound } from '../../errors.ts'
import type { RawReply } from '../../http/route.ts'
import type { Blobs } from '../../stores/blobs/port.ts'
import { firstOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { bytesDigest, checkExpectedDigest } from '../digest.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

export type Files = ReturnType<typeof createFiles>

/** Files: the bytes are a blob shared by all who have them, the row says which projects do. */
export function createFiles(deps: { traces: TraceDb; blobs: Blobs; projects: Projects }) {
  const { traces, blobs, projects } = deps

  return {
    async create(req: wire.FileCreateReq) {
      const digest = bytesDigest(req.file.bytes)
      checkExpectedDigest(req.expected_digest, digest)
      await projects.ensureById(req.project_id)
      const known = await firstOf(traces.query(queries.selectFile(req.project_id, digest)))
      if (known === undefined) {
        await blobs.put(blobKey(digest), req.file.bytes)
        const row = {
          project_id: req.project_id,
          digest,
          name: req.file.name,
          size_bytes: req.file.bytes.byteLength,
        }
        await traces.insert('files', [row])
      }
      return { digest }
    },

    async content(req: wire.FileContentReq): Promise<RawReply> {
      const known = await firstOf(traces.query(queries.selectFile(req.project_id, req.digest)))
      const bytes = known === undefined ? undefined : await blobs.get(blobKey(req.digest))
      if (bytes === undefined) throw notFound('File', req.digest)
      return { headers: { 'content-type': 'application/octet-stream' }, body: bytes }
    },

    async stats(req: wire.FilesStatsReq) {
      const row = await firstOf(traces.query<{ bytes: number }>(queries.sumSizes(req.project_id)))
      return { total_size_bytes: row?.bytes ?? 0 }
    },
  }
}

function blobKey(digest: string): string {
  return `files/${digest.slice(0, 2)}/${digest}`
}
