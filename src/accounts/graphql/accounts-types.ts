/** The types of users, entities and projects, and those that every module uses. */
export const ACCOUNT_TYPES = `
  scalar JSON
  scalar JSONString
  scalar Int64

  type PageInfo {
    endCursor: String
    hasNextPage: Boolean!
  }

  extend type Query {
    viewer: User
    project(name: String, entityName: String): Project
    model(name: String, entityName: String): Project
    models(entityName: String, first: Int, after: String): ProjectConnection
    entity(name: String): Entity
    serverInfo: ServerInfo
  }

  extend type Mutation {
    upsertModel(input: UpsertModelInput!): UpsertModelPayload
  }

  type ServerInfo {
    frontendHost: String!
    features: [ServerFeature]!
    cliVersionInfo: JSON
    latestLocalVersionInfo: LocalVersionInfo
  }

  type LocalVersionInfo {
    outOfDate: Boolean
    latestVersionString: String
    versionOnThisInstanceString: String
  }

  type ServerSettings {
    serverMessages: [ServerMessage!]
  }

  type ServerMessage {
    utfText: String
    plainText: String
    htmlText: String
    messageType: String
    messageLevel: String
  }

  type ServerFeature {
    name: String!
    isEnabled: Boolean!
  }

  type User {
    id: ID!
    name: String!
    username: String
    email: String
    photoUrl: String
    admin: Boolean
    flags: JSONString
    entity: String
    defaultEntity: Entity
    deletedAt: String
    apiKeys: ApiKeyConnection
    teams: EntityConnection
    organizations: [Organization!]
  }

  type ApiKeyConnection {
    edges: [ApiKeyEdge!]!
  }

  type ApiKeyEdge {
    node: ApiKey
  }

  type ApiKey {
    id: ID!
    name: String!
    description: String
  }

  type EntityConnection {
    edges: [EntityEdge!]!
  }

  type EntityEdge {
    node: Entity
  }

  type Entity {
    id: ID!
    name: String!
    isTeam: Boolean!
    readOnly: Boolean!
    organization: Organization
    user: User
  }

  type Organization {
    name: String!
    orgEntity: Entity
    coreWeaveOrganizationId: String
  }

  type ProjectConnection {
    edges: [ProjectEdge!]!
    pageInfo: PageInfo!
  }

  type ProjectEdge {
    node: Project
    cursor: String!
  }

  type Project {
    id: ID!
    internalId: ID!
    name: String!
    entityName: String!
    entity: Entity!
    description: String
    createdAt: String
    readOnly: Boolean
    isBenchmark: Boolean!
    access: String
    views: JSONString
    user: User
  }

  input UpsertModelInput {
    id: String
    name: String
    entityName: String
    description: String
    repo: String
    access: String
    framework: String
    isBenchmark: Boolean
    isPublished: Boolean
    views: JSONString
    clientMutationId: String
  }

  type UpsertModelPayload {
    model: Project
    project: Project
    inserted: Boolean!
  }
`
