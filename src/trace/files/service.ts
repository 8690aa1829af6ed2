import { setTimeout as delay } from 'node:timers/promises'
import type { Projects } from '../../accounts/projects.ts'
import { notFound } from '../../errors.ts'
import type { RawReply } from '../../http/route.ts'
import type { Redaction } from '../../redaction/service.ts'
import { type Blobs, readBlob } from '../../stores/blobs/port.ts'
import type { Peers } from '../../stores/control-db/peers.ts'
import type { Mutations } from '../../stores/trace-db/mutations.ts'
import { firstOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { checkExpectedDigest, fileDigest } from '../digest.ts'
import { blobKey } from './blob-owner.ts'
import * as queries from './queries.ts'
import { redactedFile } from './redact-file.ts'
import { createFilesRemoval, type FilesRemoval } from './removal.ts'
import type * as wire from './wire.ts'

/**
 * A file that is sent again is stored again when it was last sent longer ago than this, which is less than the time for
 * which an unused one is kept: its client is about to name it.
 */
const RESENT_S = 3_600

/** Pauses between looks for a file that may be arriving at another server; a small one takes less. */
const ARRIVING_ELSEWHERE_MS = [50, 150, 300]

/**
 * Files: the bytes are a shared blob; a row says which project has them. The digest is that of the bytes as they were
 * sent, also where redacted ones are kept for them.
 */
export interface Files {
  /** Undefined for a file that the project does not have, or that is larger. */
  read(req: wire.FileContentReq, options?: { bytesMax?: number }): Promise<Uint8Array | undefined>
  create(req: wire.FileCreateReq): Promise<wire.FileCreateRes>
  content(req: wire.FileContentReq): Promise<RawReply>
  stats(req: wire.FilesStatsReq): Promise<wire.FilesStatsRes>
  removal: FilesRemoval
}

export function createFiles(deps: {
  traces: TraceDb
  peers: Pick<Peers, 'arePossible'>
  blobs: Blobs
  projects: Projects
  redaction: Pick<Redaction, 'of'>
  mutations: Mutations
}): Files {
  const { traces, blobs, peers, projects, redaction } = deps
  const arriving = new Map<string, Promise<void>>()
  const storing = createStoring()

  async function keep({ project_id, file }: wire.FileCreateReq, digest: string): Promise<void> {
    await projects.ensureById(project_id)
    const known = await firstOf(traces.query<{ age_s: number }>(queries.selectFile(project_id, digest)))
    if (known !== undefined && known.age_s < RESENT_S) return
    const redactor = await redaction.of(project_id)
    const kept = redactor === undefined ? file : await redactedFile(file, redactor)
    const stored_digest = kept === file ? digest : await fileDigest(kept.bytes)
    const row = { project_id, digest, stored_digest, name: kept.name, size_bytes: kept.bytes.byteLength }
    await storing.during(stored_digest, async () => {
      await blobs.put(blobKey(stored_digest), kept.bytes)
      await traces.insert('files', [row])
    })
  }

  /** Where it may arrive at another server at this moment, it is looked for more than once. */
  async function find(projectId: string, digest: string): Promise<Found | undefined> {
    const query = queries.selectFile(projectId, digest)
    for (const pauseMs of peers.arePossible ? ARRIVING_ELSEWHERE_MS : []) {
      const found = await firstOf(traces.query<Found>(query))
      if (found !== undefined) return found
      await delay(pauseMs)
    }
    return firstOf(traces.query<Found>(query))
  }

  async function read(
    { project_id, digest }: wire.FileContentReq,
    { bytesMax = Number.POSITIVE_INFINITY }: { bytesMax?: number } = {},
  ): Promise<Uint8Array | undefined> {
    // Wire: the Python client publishes an object, and may read it, while its files are still being uploaded.
    await arriving.get(`${project_id}/${digest}`)?.catch(() => undefined)
    const known = await find(project_id, digest)
    if (known === undefined || known.size_bytes > bytesMax) return undefined
    return readBlob(blobs, blobKey(known.stored_digest))
  }

  async function create(req: wire.FileCreateReq) {
    const digest = await fileDigest(req.file.bytes)
    checkExpectedDigest(req.expected_digest, digest)
    const key = `${req.project_id}/${digest}`
    const kept = keep(req, digest)
    arriving.set(key, kept)
    try {
      await kept
    } finally {
      if (arriving.get(key) === kept) arriving.delete(key)
    }
    return { digest }
  }

  async function content(req: wire.FileContentReq): Promise<RawReply> {
    const bytes = await read(req)
    if (bytes === undefined) throw notFound('File', req.digest)
    return { headers: { 'content-type': 'application/octet-stream' }, body: bytes }
  }

  async function stats(req: wire.FilesStatsReq) {
    const row = await firstOf(traces.query<{ bytes: number }>(queries.sumSizes(req.project_id)))
    return { total_size_bytes: row?.bytes ?? 0 }
  }

  const removal = createFilesRemoval({ ...deps, isArriving: storing.has })
  return { read, create, content, stats, removal }
}

interface Found {
  size_bytes: number
  stored_digest: string
}

/** Digests of bytes that are being stored, some of them for several projects at once. */
function createStoring() {
  const counts = new Map<string, number>()

  async function during(digest: string, store: () => Promise<void>): Promise<void> {
    counts.set(digest, (counts.get(digest) ?? 0) + 1)
    try {
      await store()
    } finally {
      const left = (counts.get(digest) ?? 1) - 1
      if (left > 0) counts.set(digest, left)
      else counts.delete(digest)
    }
  }

  return { during, has: (digest: string): boolean => counts.has(digest) }
}
