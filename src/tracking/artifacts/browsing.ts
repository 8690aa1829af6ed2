import { conflict, notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import type { SignedUrls } from '../signed-urls.ts'
import { LATEST } from './names.ts'
import * as queries from './queries.ts'
import { loadAliases } from './versions.ts'

type Project = { entity: string; project: string }
type Page = { after: string; limit: number }

/** What W&B clients look at: types, collections, versions and files, page by page. */
export function createBrowsing({ control, signedUrls }: { control: ControlDb; signedUrls: SignedUrls }) {
  return {
    types: (project: Project): Promise<{ name: string; created_at: string }[]> =>
      queries.listTypes(control, project),

    collection: (name: queries.CollectionName): Promise<queries.CollectionRow | undefined> =>
      queries.findCollection(control, name),

    collectionById: (id: string): Promise<queries.CollectionRow | undefined> =>
      queries.findCollectionById(control, id),

    collections: (project: Project & { type: string | undefined }, page: Page) =>
      queries.listCollections(control, { ...project, ...page }),

    /** A version in any state. */
    version: (id: string): Promise<queries.VersionRow | undefined> => queries.findVersion(control, id),

    newest: (collectionId: string): Promise<queries.VersionRow | undefined> =>
      queries.newestVersion(control, collectionId),

    versions: (
      filter: queries.VersionsFilter,
      page: { after: string | undefined; limit: number; order: 'asc' | 'desc' },
    ): Promise<queries.VersionRow[]> => queries.listVersions(control, filter, page),

    countVersions: (filter: queries.VersionsFilter): Promise<number> =>
      queries.countVersions(control, filter),

    versionsOfRun: (run_id: string, role: 'output' | 'input', page: Page): Promise<queries.VersionRow[]> =>
      queries.listRunVersions(control, { run_id, role, ...page }),

    /** The runs that took a version as input. */
    usersOf: (id: string): Promise<string[]> => queries.usersOf(control, id),

    aliases: async (id: string): Promise<string[]> => (await loadAliases(control, [id])).get(id) ?? [],

    /** `latest` among them, where there is a version. */
    async aliasesOfCollection(collectionId: string, page: Page): Promise<string[]> {
      const stored = await queries.pageAliases(control, { collection_id: collectionId, ...page })
      const newest = LATEST > page.after && (await queries.newestVersion(control, collectionId))
      return (newest ? [...stored, LATEST] : stored).sort().slice(0, page.limit)
    },

    filesOf: (id: string, names: readonly string[], page: Page): Promise<queries.FileRow[]> =>
      queries.pageFiles(control, { artifact_id: id, names, ...page }),

    async totals(id: string): Promise<{ count: number; bytes: number }> {
      const { count, bytes } = await queries.sumFiles(control, id)
      return { count, bytes: bytes ?? 0 }
    },

    fileUrl: (method: 'GET' | 'PUT', id: string, name: string, context: CallContext): Promise<string> =>
      signedUrls.make({ method, kind: 'artifact-files', id, name }, context),

    manifestUrl: (method: 'GET' | 'PUT', id: string, context: CallContext): Promise<string> =>
      signedUrls.make({ method, kind: 'artifact-manifests', id, name: '' }, context),

    /** @throws 404, 409 for a version that somebody has given an alias. */
    async checkUnnamed(id: string): Promise<void> {
      const row = await queries.findVersion(control, id)
      if (row === undefined) throw notFound('artifact version', id)
      const [named] = await queries.listAliases(control, [id])
      if (named !== undefined)
        throw conflict(`The version has the alias ${named.alias}; delete its aliases too`)
    },
  }
}
