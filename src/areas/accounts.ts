import { accountsPart } from '../accounts/graphql/accounts-part.ts'
import type { GraphqlPart } from '../accounts/graphql/part.ts'
import { graphqlRoutes } from '../accounts/graphql/routes.ts'
import { createGraphql } from '../accounts/graphql/service.ts'
import type { Projects } from '../accounts/projects.ts'
import type { Area } from './area.ts'

export interface AccountsDeps {
  projects: Projects
  /** What other areas add to the W&B API. */
  graphqlParts: GraphqlPart[]
}

/** Callers and their projects, as W&B clients see them. */
export function createAccountsArea({ projects, graphqlParts }: AccountsDeps): Area {
  return { routes: graphqlRoutes(createGraphql([accountsPart(projects), ...graphqlParts])) }
}
