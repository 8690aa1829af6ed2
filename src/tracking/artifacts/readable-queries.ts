import { type Expression, expressionBuilder, type SqlBool } from 'kysely'
import type { Rights } from '../../access.ts'
import type { ArtifactCollectionsTable } from '../../stores/control-db/artifact-tables.ts'

/**
 * A condition on the table `collection`: that the caller may read its project. Uses and links may lead to projects that
 * it may not read. The condition is part of the query, since rows that are filtered out afterwards make pages and
 * counts wrong.
 */
export function isReadable(rights: Rights): Expression<SqlBool> {
  const eb = expressionBuilder<{ collection: ArtifactCollectionsTable }, 'collection'>()
  const { entities, project } = rights
  if (entities === 'all') return eb.lit(true)
  const readable = entities.filter((entity) => rights.allows('read', { entity, project }))
  // PostgreSQL takes no empty list.
  if (readable.length === 0) return eb.lit(false)
  const within = eb('collection.entity', 'in', readable)
  return project === undefined ? within : within.and('collection.project', '=', project)
}
