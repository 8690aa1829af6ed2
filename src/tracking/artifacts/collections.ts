import type { Contents } from '../../contents/service.ts'
import { conflict, invalidRequest, notFound } from '../../errors.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { anyAliasInto } from './alias-queries.ts'
import * as queries from './collection-queries.ts'
import { checkName } from './names.ts'
import { markDeleted, versionStates } from './queries.ts'
import { tagsOf } from './versions.ts'
import { ownersOf } from './writer.ts'

/** Tags of one collection. Wire: clients add 20 at once. */
const TAGS_MAX = 100

export interface CollectionsDeps {
  control: ControlDb
  contents: Contents
  /** Whether versions of this type are also something else, such as checkpoints of a model. */
  isWatched: (type: string) => boolean
}

/** Changes and deletes collections. */
export interface Collections {
  /** Changes name and description. @throws 400 for a bad name, 404, 409 for a name that is taken. */
  describeCollection(
    id: string,
    kind: queries.CollectionRow['kind'],
    change: { name?: string | undefined; description?: string | null | undefined },
  ): Promise<void>
  /** Gives a sequence another type. @throws 400 for a bad type, 404, 409 where versions are linked or have a hook. */
  moveSequence(id: string, type: string): Promise<void>
  /** Changes the tags of a collection; returns them. @throws 400 for a bad tag or too many, 404. */
  tagCollection(
    name: queries.CollectionName,
    change: { add?: readonly string[]; remove?: readonly string[] },
  ): Promise<string[]>
  /**
   * Deletes a sequence with its versions and their files, or a portfolio, whose versions stay in their sequences.
   * Returns what it was. @throws 404, 409 for a sequence with a version that has an alias.
   */
  removeCollection(id: string, kind: queries.CollectionRow['kind']): Promise<queries.CollectionRow>
}

export function createCollections({ control, contents, isWatched }: CollectionsDeps): Collections {
  async function existing(tx: ControlTx, id: string, kind: queries.CollectionRow['kind']) {
    const row = await queries.findCollectionById(tx, id)
    if (row?.kind !== kind) throw notFound(`artifact ${kind}`, id)
    return row
  }

  /** @throws 409 for a sequence whose name and versions a model depends on. */
  function checkFree(row: queries.CollectionRow, change: string): void {
    if (row.kind === 'sequence' && isWatched(row.type)) {
      throw conflict(
        `The versions of ${row.name} are checkpoints of a model; as a whole it cannot be ${change}`,
      )
    }
  }

  async function rename(tx: ControlTx, row: queries.CollectionRow, name: string): Promise<void> {
    if (name === row.name) return
    checkFree(row, 'renamed')
    checkName('name', name)
    const { entity, project } = row
    if ((await queries.findCollection(tx, { entity, project, name })) !== undefined) {
      throw conflict(`The project has another artifact with the name ${name}`)
    }
    await queries.updateCollection(tx, row.id, { name, updated_at: nowIso() })
  }

  function describeCollection(
    id: string,
    kind: queries.CollectionRow['kind'],
    change: { name?: string | undefined; description?: string | null | undefined },
  ): Promise<void> {
    return control.transaction().execute(async (tx) => {
      const row = await existing(tx, id, kind)
      if (change.name !== undefined) await rename(tx, row, change.name)
      if (change.description === undefined) return
      await queries.updateCollection(tx, id, { description: change.description, updated_at: nowIso() })
    })
  }

  function moveSequence(id: string, type: string): Promise<void> {
    return control.transaction().execute(async (tx) => {
      const row = await existing(tx, id, 'sequence')
      if (type === row.type) return
      checkName('type', type)
      checkFree(row, 'given another type')
      if (isWatched(type))
        throw conflict(`Versions of the type ${type} are checkpoints, which only training and uploads make`)
      if (await queries.isLinked(tx, id)) {
        throw conflict(
          `Versions of ${row.name} are linked to collections of the type ${row.type}; unlink them`,
        )
      }
      await queries.updateCollection(tx, id, { type, updated_at: nowIso() })
    })
  }

  function tagCollection(
    name: queries.CollectionName,
    change: { add?: readonly string[]; remove?: readonly string[] },
  ): Promise<string[]> {
    return control.transaction().execute(async (tx) => {
      const row = await queries.findCollection(tx, name)
      if (row === undefined) throw notFound('artifact collection', name.name)
      const added = (change.add ?? []).map((tag) => checkName('tag', tag))
      const all = new Set([...tagsOf(row), ...added])
      const tags = [...all.difference(new Set(change.remove))]
      if (tags.length > TAGS_MAX) throw invalidRequest(`A collection has ${TAGS_MAX} tags at most`)
      await queries.updateCollection(tx, row.id, { tags: JSON.stringify(tags), updated_at: nowIso() })
      return tags
    })
  }

  async function removeCollection(
    id: string,
    kind: queries.CollectionRow['kind'],
  ): Promise<queries.CollectionRow> {
    const { row, ids } = await control.transaction().execute(async (tx) => {
      const row = await existing(tx, id, kind)
      checkFree(row, 'deleted')
      await checkUnnamed(tx, row)
      const ids = (await versionStates(tx, id)).map((version) => version.id)
      await markDeleted(tx, ids, nowIso())
      return { row, ids }
    })
    // Rows are deleted last: after a crash before that, deleting the collection again releases the remaining bytes.
    await contents.release(ownersOf(ids))
    await control.transaction().execute(async (tx) => {
      // A client may have logged the next version meanwhile.
      const isEmpty = (await versionStates(tx, id)).every(({ state }) => state === 'DELETED')
      if (isEmpty) await queries.deleteCollection(tx, id)
    })
    return row
  }

  return { describeCollection, moveSequence, tagCollection, removeCollection }
}

/** @throws 409 naming an alias of one of a sequence's versions. */
async function checkUnnamed(tx: ControlTx, row: queries.CollectionRow): Promise<void> {
  const named = await anyAliasInto(tx, row.id)
  if (named === undefined) return
  const { alias, version, collection } = named
  throw conflict(
    `Version v${version} of ${row.name} has the alias ${alias} in ${collection}; delete it first`,
  )
}
