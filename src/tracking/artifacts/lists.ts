import { conflict, notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { checkListed } from '../listed-names.ts'
import type { SignedUrls } from '../signed-urls.ts'
import { anyAliasOf, pageAliases } from './alias-queries.ts'
import * as collections from './collection-queries.ts'
import { countLinked, listLinked } from './link-queries.ts'
import {
  type CollectionRef,
  linkedMember,
  type Member,
  memberAliases,
  memberOf,
  ownMember,
} from './members.ts'
import { LATEST } from './names.ts'
import * as queries from './queries.ts'

type Project = { entity: string; project: string }
type Page = { after: string; limit: number }
type MembersPage = { after: string | undefined; limit: number; order: 'asc' | 'desc' }

/** Which members of a collection: those in one state, of projects that the rights allow to read. */
type MembersFilter = Pick<queries.VersionsFilter, 'state' | 'rights'>

/** Lists for W&B clients: types, collections, versions and files, page by page. */
export interface ArtifactLists {
  types(project: Project): Promise<{ name: string; created_at: string }[]>
  collection(name: collections.CollectionName): Promise<collections.CollectionRow | undefined>
  collectionById(id: string): Promise<collections.CollectionRow | undefined>
  collections(filter: collections.CollectionsFilter, page: Page): Promise<collections.CollectionRow[]>
  countCollections(filter: collections.CollectionsFilter): Promise<number>
  /** A version in any state. */
  version(id: string): Promise<queries.VersionRow | undefined>
  /** A version that is not deleted, by the id that its client gave it. */
  versionOfClient(clientId: string): Promise<queries.VersionRow | undefined>
  newest(collectionId: string): Promise<queries.VersionRow | undefined>
  /**
   * The members of a collection, one page; the cursor of a member goes into `after`. Portfolios have committed
   * versions.
   */
  members(
    of: CollectionRef,
    filter: MembersFilter,
    page: MembersPage,
  ): Promise<(Member & { cursor: string })[]>
  countMembers(of: CollectionRef, filter: MembersFilter): Promise<number>
  versionsOfRun(of: queries.OfRun, page: Page): Promise<queries.VersionRow[]>
  countVersionsOfRun(of: queries.OfRun): Promise<number>
  /** The aliases of a version in one collection. */
  memberAliases(member: Member): Promise<string[]>
  /** `latest` among them, where there is a version. */
  aliasesOfCollection(of: CollectionRef, page: Page): Promise<string[]>
  /** Files by name. @throws 400 for too many names. */
  filesOf(id: string, names: readonly string[], page: Page): Promise<queries.FileRow[]>
  /**
   * How many files a version has, and their bytes; of the files with these names, where there are any.
   * @throws 400 for too many.
   */
  totals(id: string, names?: readonly string[]): Promise<{ count: number; bytes: number }>
  fileUrl(method: 'GET' | 'PUT', id: string, name: string, context: CallContext): Promise<string>
  manifestUrl(method: 'GET' | 'PUT', id: string, context: CallContext): Promise<string>
  /** @throws 404, 409 for a version that has an alias. */
  checkUnnamed(id: string): Promise<void>
}

export function createArtifactLists({
  control,
  signedUrls,
}: {
  control: ControlDb
  signedUrls: SignedUrls
}): ArtifactLists {
  async function members(
    of: CollectionRef,
    filter: MembersFilter,
    page: MembersPage,
  ): Promise<(Member & { cursor: string })[]> {
    if (of.kind === 'portfolio') {
      const portfolio = { collection_id: of.id, rights: filter.rights }
      const rows = filter.state === 'COMMITTED' ? await listLinked(control, portfolio, page) : []
      return rows.map((row) => ({ ...linkedMember(of, row), cursor: row.link_id }))
    }
    const { entity, project, name } = of
    const rows = await queries.listVersions(control, { entity, project, name, ...filter }, page)
    return rows.map((row) => ({ ...ownMember(row), cursor: row.id }))
  }

  async function countMembers(of: CollectionRef, filter: MembersFilter): Promise<number> {
    if (of.kind === 'portfolio') {
      const portfolio = { collection_id: of.id, rights: filter.rights }
      return filter.state === 'COMMITTED' ? countLinked(control, portfolio) : 0
    }
    const { entity, project, name } = of
    return queries.countVersions(control, { entity, project, name, ...filter })
  }

  async function aliasesOfCollection(of: CollectionRef, page: Page): Promise<string[]> {
    const stored = await pageAliases(control, { collection_id: of.id, ...page })
    const newest = LATEST > page.after && (await memberOf(control, of, LATEST))
    return (newest ? [...stored, LATEST] : stored).sort().slice(0, page.limit)
  }

  async function totals(
    id: string,
    names: readonly string[] = [],
  ): Promise<{ count: number; bytes: number }> {
    checkListed(names)
    const { count, bytes } = await queries.sumFiles(control, id, names)
    return { count, bytes: bytes ?? 0 }
  }

  async function checkUnnamed(id: string): Promise<void> {
    const row = await queries.findVersion(control, id)
    if (row === undefined) throw notFound('artifact version', id)
    const named = await anyAliasOf(control, id)
    if (named !== undefined)
      throw conflict(`The version has the alias ${named.alias}; delete its aliases too`)
  }

  return {
    types: (project) => collections.listTypes(control, project),
    collection: (name) => collections.findCollection(control, name),
    collectionById: (id) => collections.findCollectionById(control, id),
    collections: (filter, page) => collections.listCollections(control, filter, page),
    countCollections: (filter) => collections.countCollections(control, filter),
    version: (id) => queries.findVersion(control, id),
    versionOfClient: (clientId) => queries.versionOfClient(control, clientId),
    newest: (collectionId) => queries.newestVersion(control, collectionId),
    members,
    countMembers,
    versionsOfRun: (of, page) => queries.listRunVersions(control, of, page),
    countVersionsOfRun: (of) => queries.countRunVersions(control, of),
    memberAliases: (member) => memberAliases(control, member),
    aliasesOfCollection,
    async filesOf(id, names, page) {
      checkListed(names)
      return queries.pageFiles(control, { artifact_id: id, names, ...page })
    },
    totals,
    fileUrl: (method, id, name, context) =>
      signedUrls.make({ method, kind: 'artifact-files', id, name }, context),
    manifestUrl: (method, id, context) =>
      signedUrls.make({ method, kind: 'artifact-manifests', id, name: '' }, context),
    checkUnnamed,
  }
}
