import type { GraphqlModule } from '../accounts/graphql/graphql-module.ts'

/** Files of runs and artifacts in GraphQL. */
export const filesModule: GraphqlModule = {
  types: `
  type File {
    id: ID!
    name: String!
    displayName: String!
    url(upload: Boolean): String
    uploadUrl: String
    uploadHeaders: [String!]
    directUrl: String
    sizeBytes: Int64!
    mimetype: String
    updatedAt: String
    digest: String
    md5: String
    storagePath: String
  }

  type FileConnection {
    edges: [FileEdge!]!
    pageInfo: PageInfo!
    totalCount: Int
  }

  type FileEdge {
    node: File
    cursor: String!
  }
`,
  access: {},
  resolvers: {},
}
