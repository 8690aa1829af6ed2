import type { Projects } from '../../accounts/projects.ts'
import type { Contents } from '../../contents/service.ts'
import type { CallContext } from '../../http/caller.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { toPage } from '../../wire/page-wire.ts'
import { yielding } from '../../yielding.ts'
import { releaseUnfinished } from '../receive.ts'
import type { SignedUrls } from '../signed-urls.ts'
import { type Collections, createCollections } from './collections.ts'
import { type CommitHook, type Committer, createCommitter } from './committer.ts'
import { createLinker, type Linker } from './linker.ts'
import { type ArtifactLists, createArtifactLists } from './lists.ts'
import { listVersions, pageFiles, sumFiles, sumOfEntity, type VersionRow } from './queries.ts'
import { type ArtifactReader, createArtifactReader } from './reader.ts'
import { createUploads, type Uploads } from './uploads.ts'
import { loadAliases, metadataOf } from './versions.ts'
import type { ArtifactsListQuery, ArtifactsListRes } from './wire.ts'
import { type ArtifactWriter, createArtifactWriter } from './writer.ts'

/** Files listed for each version; some versions have hundreds of thousands. */
const FILES_SHOWN_MAX = 1_000

export interface ArtifactsDeps {
  control: ControlDb
  contents: Contents
  projects: Projects
  signedUrls: SignedUrls
}

/** Versioned, named sets of files. */
export interface Artifacts
  extends ArtifactWriter,
    ArtifactReader,
    ArtifactLists,
    Collections,
    Linker,
    Committer,
    Uploads {
  /**
   * Adds a hook for every version of a type that a client commits, called before the commit. A ClientError it throws
   * is the client's reply, and the version stays uncommitted. Every commit of such a type makes a new version, even
   * with the files of the previous one.
   */
  onCommit(type: string, hook: CommitHook): void
  /** Lists committed versions, newest first. @throws 413 for too much metadata. */
  list(req: ArtifactsListQuery, context: CallContext): Promise<ArtifactsListRes>
  /** Bytes of the files of all versions of an entity. */
  storedBy(entity: string): Promise<number>
  /** Removes abandoned uploads; called when the server starts. */
  cleanUp(before: number): Promise<void>
}

export function createArtifacts(deps: ArtifactsDeps): Artifacts {
  const hooks = new Map<string, CommitHook>()
  const writer = createArtifactWriter(deps)
  const isWatched = (type: string): boolean => hooks.has(type)
  const uploads = createUploads({ ...deps, isWatched })

  function onCommit(type: string, hook: CommitHook): void {
    hooks.set(type, hook)
  }

  async function list(req: ArtifactsListQuery, { caller }: CallContext) {
    const filter = {
      ...req,
      entity: req.entity ?? caller.defaultEntity,
      state: 'COMMITTED' as const,
      rights: caller.rights,
    }
    const page = { after: req.after, limit: req.limit + 1, order: 'desc' as const }
    const rows = await listVersions(deps.control, filter, page)
    const versions: Awaited<ReturnType<typeof shown>>[] = []
    for await (const row of yielding(rows)) versions.push(await shown(deps.control, row))
    return toPage(versions, req.limit)
  }

  async function cleanUp(before: number): Promise<void> {
    await uploads.removeAbandoned()
    await releaseUnfinished(deps, before)
  }

  return {
    ...writer,
    ...createArtifactReader(deps),
    ...createArtifactLists(deps),
    ...createCollections({ ...deps, isWatched }),
    ...createLinker(deps),
    ...createCommitter({ ...deps, hooks }),
    ...uploads,
    onCommit,
    list,
    storedBy: (entity) => sumOfEntity(deps.control, entity),
    cleanUp,
  }
}

async function shown(control: ControlDb, row: VersionRow) {
  const totals = await sumFiles(control, row.id)
  const files = await pageFiles(control, {
    artifact_id: row.id,
    names: [],
    after: '',
    limit: FILES_SHOWN_MAX,
  })
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    version: row.version ?? 0,
    aliases: (await loadAliases(control, [row.id])).get(row.id) ?? [],
    metadata: metadataOf(row),
    digest: row.digest,
    size: totals.bytes ?? 0,
    file_count: totals.count,
    files: files.map(({ name, md5, size, reference }) => ({ name, md5, size, reference })),
    created_at: row.created_at,
    created_by: row.created_by,
  }
}
