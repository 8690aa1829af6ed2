import { accountsModule } from '../accounts/graphql/accounts-module.ts'
import type { GraphqlModule } from '../accounts/graphql/graphql-module.ts'
import { graphqlRoutes } from '../accounts/graphql/routes.ts'
import { createGraphql } from '../accounts/graphql/service.ts'
import type { Projects } from '../accounts/projects.ts'
import type { Area } from './area.ts'

export interface AccountsDeps {
  projects: Projects
  /** What other areas add to the W&B API. */
  graphqlParts: GraphqlModule[]
}

/** Callers and their projects, as W&B clients see them. */
export function createAccountsArea({ projects, graphqlParts }: AccountsDeps): Area {
  return { routes: graphqlRoutes(createGraphql([accountsModule(projects), ...graphqlParts])) }
}
