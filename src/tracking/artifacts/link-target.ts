import { plainId } from '../../accounts/graphql/global-id.ts'
import { invalidRequest } from '../../errors.ts'
import type { CollectionName } from './collection-queries.ts'

/** The members of the input of `linkArtifact` that name a portfolio. */
interface Named {
  entityName?: unknown
  projectName?: unknown
  artifactPortfolioName?: unknown
  artifactPortfolioID?: unknown
}

/**
 * The portfolio that a link goes to: by its names where a client sends all of them, or else by its id. It is found
 * here alone, so that what a caller is allowed is what is changed. @throws 400 where neither is there.
 */
export function linkTargetOf(input: Named): CollectionName | { id: string } {
  const { entityName: entity, projectName: project, artifactPortfolioName: name, artifactPortfolioID } = input
  if (typeof entity === 'string' && typeof project === 'string' && typeof name === 'string')
    return { entity, project, name }
  if (typeof artifactPortfolioID === 'string')
    return { id: plainId('ArtifactCollection', artifactPortfolioID) }
  throw invalidRequest('A link needs entityName, projectName and artifactPortfolioName')
}
