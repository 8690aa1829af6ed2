import type { Rights } from '../../access.ts'
import type { Projects } from '../../accounts/projects.ts'
import { conflict, notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import * as collections from './collection-queries.ts'
import * as linkQueries from './link-queries.ts'
import { linkedMember, type Member } from './members.ts'
import { checkAliasCount } from './names.ts'
import { findVersion } from './queries.ts'
import { addAliases, ensureCollection } from './writer.ts'

/** Portfolios that a version is shown in. Wire: clients say that they show 500. */
const PORTFOLIOS_SHOWN_MAX = 500

/** A portfolio is a collection of versions of other collections, with numbers and aliases of its own. */
export interface Linker {
  /**
   * Adds a version to a portfolio, which is created where it does not exist; repeating a link changes nothing.
   * @throws 400 for too many aliases, 404 for a version that is not committed, 409 where the name belongs to a sequence
   * or to another type.
   */
  link(id: string, target: collections.CollectionName, aliases: readonly string[]): Promise<Member>
  /** Removes a version from a portfolio; an absent one is no error. @throws 404, 409 for a sequence. */
  unlink(id: string, portfolioId: string): Promise<void>
  /** A version in each of its portfolios that these rights allow to read. */
  links(id: string, rights: Rights): Promise<Member[]>
}

export function createLinker({ control, projects }: { control: ControlDb; projects: Projects }): Linker {
  async function link(
    id: string,
    target: collections.CollectionName,
    aliases: readonly string[],
  ): Promise<Member> {
    checkAliasCount(aliases)
    await projects.ensureById(`${target.entity}/${target.project}`)
    return control.transaction().execute(async (tx) => {
      const version = await findVersion(tx, id)
      if (version?.state !== 'COMMITTED') throw notFound('artifact version', id)
      const portfolio = await ensureCollection(tx, { ...target, type: version.type, kind: 'portfolio' })
      if ((await linkQueries.findLinked(tx, portfolio.id, id)) === undefined) {
        await linkQueries.insertLink(tx, {
          id: newId(),
          collection_id: portfolio.id,
          artifact_id: id,
          version: await collections.takeVersion(tx, portfolio.id),
          created_at: nowIso(),
        })
      }
      await addAliases(tx, id, aliases, portfolio)
      const linked = await linkQueries.findLinked(tx, portfolio.id, id)
      if (linked === undefined) throw notFound('linked artifact version', id)
      return linkedMember(portfolio, linked)
    })
  }

  async function unlink(id: string, portfolioId: string): Promise<void> {
    const portfolio = await collections.findCollectionById(control, portfolioId)
    if (portfolio === undefined) throw notFound('artifact collection', portfolioId)
    if (portfolio.kind !== 'portfolio') {
      throw conflict(`${portfolio.name} has versions of its own; delete the version instead of unlinking it`)
    }
    await control
      .transaction()
      .execute((tx) => linkQueries.deleteLink(tx, { collection_id: portfolioId, artifact_id: id }))
  }

  async function links(id: string, rights: Rights): Promise<Member[]> {
    const version = await findVersion(control, id)
    if (version === undefined) return []
    const found = await linkQueries.portfoliosOf(control, { artifact_id: id, rights }, PORTFOLIOS_SHOWN_MAX)
    return found.map((portfolio) => ({
      collection: portfolio,
      version,
      number: portfolio.link_version,
      since: portfolio.linked_at,
    }))
  }

  return { link, unlink, links }
}
