/** What sequences and portfolios have in common. */
const COLLECTION_FIELDS = `
    id: ID!
    name: String!
    description: String
    state: String!
    createdAt: String!
    updatedAt: String
    project: Project
    defaultArtifactType: ArtifactType!
    tags: TagConnection!
    aliases(first: Int, after: String): ArtifactAliasConnection
    artifactMembership(aliasName: String!): ArtifactCollectionMembership
    artifacts(filters: JSONString, order: String, first: Int, after: String): VersionedArtifactConnection`

/** The GraphQL types of collections of artifacts: sequences, and portfolios of versions of sequences. */
export const COLLECTION_TYPES = `
  extend type Mutation {
    linkArtifact(input: LinkArtifactInput!): LinkArtifactPayload
    unlinkArtifact(input: UnlinkArtifactInput!): UnlinkArtifactPayload
    updateArtifactSequence(input: UpdateArtifactSequenceInput!): ArtifactCollectionPayload
    updateArtifactPortfolio(input: UpdateArtifactPortfolioInput!): ArtifactCollectionPayload
    moveArtifactSequence(input: MoveArtifactSequenceInput!): ArtifactCollectionPayload
    deleteArtifactSequence(input: DeleteArtifactSequenceInput!): ArtifactCollectionPayload
    deleteArtifactPortfolio(input: DeleteArtifactPortfolioInput!): ArtifactCollectionPayload
    createArtifactCollectionTagAssignments(
      input: CreateArtifactCollectionTagAssignmentsInput!
    ): CollectionTagsPayload
    deleteArtifactCollectionTagAssignments(
      input: DeleteArtifactCollectionTagAssignmentsInput!
    ): SuccessPayload
  }

  interface ArtifactCollection {
${COLLECTION_FIELDS}
  }

  type ArtifactSequence implements ArtifactCollection {
${COLLECTION_FIELDS}
    digestAlgorithm: ArtifactDigestAlgorithm
    latestArtifact: Artifact
  }

  type ArtifactPortfolio implements ArtifactCollection {
${COLLECTION_FIELDS}
  }

  type ArtifactCollectionConnection {
    edges: [ArtifactCollectionEdge!]!
    pageInfo: PageInfo!
    totalCount: Int!
  }

  type ArtifactCollectionEdge { node: ArtifactCollection cursor: String! }

  type Tag { id: ID! name: String! tagCategoryName: String }
  type TagConnection { edges: [TagEdge!]! }
  type TagEdge { node: Tag! }

  input TagInput { tagName: String! tagCategoryName: String attributes: JSONString }

  input LinkArtifactInput {
    artifactID: ID
    clientID: ID
    artifactPortfolioID: ID
    artifactPortfolioName: String
    entityName: String
    projectName: String
    aliases: [ArtifactAliasInput!]
    clientMutationId: String
  }

  type LinkArtifactPayload { versionIndex: Int artifactMembership: ArtifactCollectionMembership }

  input UnlinkArtifactInput { artifactID: ID! artifactPortfolioID: ID! clientMutationId: String }
  type UnlinkArtifactPayload { artifactID: ID! success: Boolean! clientMutationId: String }

  input UpdateArtifactSequenceInput {
    artifactSequenceID: ID!
    name: String
    description: String
    clientMutationId: String
  }

  input UpdateArtifactPortfolioInput {
    artifactPortfolioID: ID!
    name: String
    description: String
    clientMutationId: String
  }

  input MoveArtifactSequenceInput {
    artifactSequenceID: ID!
    destinationArtifactTypeName: String!
    clientMutationId: String
  }

  input DeleteArtifactSequenceInput { artifactSequenceID: ID! clientMutationId: String }
  input DeleteArtifactPortfolioInput { artifactPortfolioID: ID! clientMutationId: String }

  type ArtifactCollectionPayload { artifactCollection: ArtifactCollection! }

  input CreateArtifactCollectionTagAssignmentsInput {
    entityName: String!
    projectName: String!
    artifactCollectionName: String!
    tags: [TagInput!]!
    clientMutationID: String
  }

  input DeleteArtifactCollectionTagAssignmentsInput {
    entityName: String!
    projectName: String!
    artifactCollectionName: String!
    tags: [TagInput!]!
    clientMutationID: String
  }

  type CollectionTagsPayload { tags: [Tag!]! }
`
