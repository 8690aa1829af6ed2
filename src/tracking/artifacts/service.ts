import type { Projects } from '../../accounts/projects.ts'
import type { Contents } from '../../contents.ts'
import type { CallContext } from '../../http/caller.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import { toPage } from '../../training/page-wire.ts'
import { releaseUnfinished } from '../receive.ts'
import type { SignedUrls } from '../signed-urls.ts'
import { createBrowsing } from './browsing.ts'
import { type CommitHook, createCommitting } from './committing.ts'
import { listVersions } from './queries.ts'
import { createReading } from './reading.ts'
import { createUploads } from './uploads.ts'
import { type ArtifactVersion, loadVersions } from './versions.ts'
import type { ArtifactsListQuery } from './wire.ts'
import { createWriting } from './writing.ts'

/** What a commit hook sees. */
export type CommittedArtifact = ArtifactVersion

export type Artifacts = ReturnType<typeof createArtifacts>

export interface ArtifactsDeps {
  control: ControlDb
  contents: Contents
  projects: Projects
  signedUrls: SignedUrls
}

/** Versioned, named sets of files. */
export function createArtifacts(deps: ArtifactsDeps) {
  const hooks = new Map<string, CommitHook>()
  const writing = createWriting(deps)
  const uploads = createUploads({ ...deps, isWatched: (type) => hooks.has(type) })

  return {
    ...writing,
    ...createReading(deps),
    ...createBrowsing(deps),
    ...createCommitting({ ...deps, hooks }),
    ...uploads,

    /**
     * Has a hook see every version of a type that a client commits, before it is committed. A ClientError it throws is
     * what the client hears, and the version stays uncommitted. Versions of such a type are always versions of their
     * own, also when they have the files of the one before.
     */
    onCommit(type: string, hook: CommitHook): void {
      hooks.set(type, hook)
    },

    /** Lists committed versions, newest first. */
    async list(req: ArtifactsListQuery, { caller }: CallContext) {
      const filter = { ...req, entity: req.entity ?? caller.defaultEntity, state: 'COMMITTED' as const }
      const page = { after: req.after, limit: req.limit + 1, order: 'desc' as const }
      const rows = await listVersions(deps.control, filter, page)
      const versions = await loadVersions(deps.control, rows)
      const items = versions.map(({ files, entity: _entity, project: _project, ...version }, index) => ({
        ...version,
        digest: rows[index]?.digest ?? '',
        created_at: rows[index]?.created_at ?? '',
        size: files.reduce((sum, file) => sum + file.size, 0),
        files: files.map(({ name, md5, size }) => ({ name, md5, size })),
      }))
      return toPage(items, req.limit)
    },

    /** Removes what was given up or broken off; for the start of the server. */
    async cleanUp(): Promise<void> {
      await writing.removeVersions(await uploads.abandoned())
      await releaseUnfinished(deps)
    },
  }
}
