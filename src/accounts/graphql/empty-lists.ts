import type { GraphqlModule } from './graphql-module.ts'

const NONE = { edges: [], pageInfo: { endCursor: null, hasNextPage: false } }

/** Wire: clients list sweeps and reports of a project to read them; this server has none. */
export const emptyListsModule: GraphqlModule = {
  types: `
  extend type Project {
    totalSweeps: Int
    sweeps(filters: JSONString, first: Int, after: String): SweepConnection
    allViews(viewType: String, viewName: String, first: Int, after: String): ViewConnection
  }

  type SweepConnection { edges: [SweepEdge!]! pageInfo: PageInfo! }
  type SweepEdge { node: Sweep cursor: String! }
  type Sweep {
    id: ID!
    name: String!
    displayName: String
    method: String
    state: String
    description: String
    bestLoss: Float
    config: String
    createdAt: String
    updatedAt: String
    runCount: Int
    runCountExpected: Int
  }

  type ViewConnection { edges: [ViewEdge!]! pageInfo: PageInfo! }
  type ViewEdge { node: View cursor: String! }
  type View {
    id: ID!
    name: String!
    displayName: String
    description: String
    spec: String
    createdAt: String
    updatedAt: String
    user: User
  }
`,
  access: {},
  resolvers: { Project: { totalSweeps: () => 0, sweeps: () => NONE, allViews: () => NONE } },
}
