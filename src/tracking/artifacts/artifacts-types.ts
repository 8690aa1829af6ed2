/** The GraphQL types of artifacts. */
export const ARTIFACT_TYPES = `
  extend type Query {
    artifact(id: ID!): Artifact
    artifactCollection(id: ID!): ArtifactCollection
    clientIDMapping(clientID: ID!): ClientIDMapping
  }

  extend type Mutation {
    createArtifact(input: CreateArtifactInput!): CreateArtifactPayload
    createArtifactManifest(input: CreateArtifactManifestInput!): CreateArtifactManifestPayload
    createArtifactFiles(input: CreateArtifactFilesInput!): CreateArtifactFilesPayload
    completeMultipartUploadArtifact(
      input: CompleteMultipartUploadArtifactInput!
    ): CompleteMultipartUploadArtifactPayload
    commitArtifact(input: CommitArtifactInput!): ArtifactPayload
    updateArtifact(input: UpdateArtifactInput!): ArtifactPayload
    deleteArtifact(input: DeleteArtifactInput!): ArtifactPayload
    useArtifact(input: UseArtifactInput!): ArtifactPayload
    addAliases(input: AddAliasesInput!): SuccessPayload
    deleteAliases(input: DeleteAliasesInput!): SuccessPayload
  }

  extend type Project {
    artifact(name: String!, enableTracking: Boolean): Artifact
    artifactType(name: String!): ArtifactType
    artifactTypes(first: Int, after: String): ArtifactTypeConnection
    artifactCollection(name: String!): ArtifactCollection
    artifactCollections(filters: JSONString, order: String, first: Int, after: String): ArtifactCollectionConnection
    artifactCollectionMembership(name: String!): ArtifactCollectionMembership
  }

  extend type Run {
    outputArtifacts(first: Int, after: String): ArtifactConnection
    inputArtifacts(first: Int, after: String): ArtifactConnection
  }

  enum ArtifactState { PENDING COMMITTED DELETED }
  enum ArtifactDigestAlgorithm { MANIFEST_MD5 MANIFEST_XXH128 }
  enum ArtifactManifestType { FULL PATCH INCREMENTAL }
  enum ArtifactStorageLayout { V1 V2 }

  type ClientIDMapping { serverID: ID }

  type ArtifactType {
    id: ID!
    name: String!
    description: String
    createdAt: String!
    artifact(name: String!): Artifact
    artifactSequence(name: String!): ArtifactSequence
    artifactCollection(name: String!): ArtifactCollection
    artifactCollections(filters: JSONString, order: String, first: Int, after: String): ArtifactCollectionConnection
  }

  type ArtifactTypeConnection { edges: [ArtifactTypeEdge!]! pageInfo: PageInfo! }
  type ArtifactTypeEdge { node: ArtifactType cursor: String! }

  type ArtifactCollectionMembership {
    id: ID!
    versionIndex: Int
    createdAt: String!
    aliases: [ArtifactAlias!]!
    artifactCollection: ArtifactCollection
    artifact: Artifact
    files(names: [String!], first: Int, after: String): FileConnection
  }

  type ArtifactMembershipConnection { edges: [ArtifactMembershipEdge!]! }
  type ArtifactMembershipEdge { node: ArtifactCollectionMembership }

  type Artifact {
    id: ID!
    artifactSequence: ArtifactSequence!
    artifactType: ArtifactType!
    versionIndex: Int
    description: String
    metadata: JSONString
    ttlDurationSeconds: Int64!
    ttlIsInherited: Boolean!
    tags: [Tag!]!
    historyStep: Int64
    state: ArtifactState!
    size: Int64!
    digest: String!
    digestAlgorithm: ArtifactDigestAlgorithm
    commitHash: String
    fileCount: Int64!
    createdAt: String!
    updatedAt: String
    aliases: [ArtifactAlias!]!
    currentManifest: ArtifactManifest
    files(names: [String!], first: Int, after: String): FileConnection
    createdBy: ArtifactCreator
    usedBy: RunNodes
    artifactMemberships: ArtifactMembershipConnection
  }

  union ArtifactCreator = Run | User

  type RunNodes { edges: [RunNodeEdge!]! }
  type RunNodeEdge { node: Run }

  type ArtifactConnection { edges: [ArtifactEdge!]! pageInfo: PageInfo! totalCount: Int! }
  type ArtifactEdge { node: Artifact cursor: String! }

  type VersionedArtifactConnection { edges: [VersionedArtifactEdge!]! pageInfo: PageInfo! totalCount: Int! }
  type VersionedArtifactEdge { version: String! node: Artifact! cursor: String! }

  type ArtifactAlias { id: ID! alias: String! artifactCollection: ArtifactCollection }
  type ArtifactAliasConnection { edges: [ArtifactAliasEdge!]! pageInfo: PageInfo! }
  type ArtifactAliasEdge { node: ArtifactAlias cursor: String! }

  type ArtifactManifest { id: ID! digest: String file: File! }

  input ArtifactAliasInput { artifactCollectionName: String! alias: String! }

  input ArtifactCollectionAliasInput {
    entityName: String!
    projectName: String!
    artifactCollectionName: String!
    alias: String!
  }

  input CreateArtifactInput {
    entityName: String!
    projectName: String!
    runName: String
    artifactTypeName: String!
    artifactCollectionName: String
    artifactCollectionNames: [String!]
    digest: String!
    digestAlgorithm: ArtifactDigestAlgorithm
    description: String
    labels: JSONString
    aliases: [ArtifactAliasInput!]
    tags: [TagInput!]
    metadata: JSONString
    historyStep: Int64
    ttlDurationSeconds: Int64
    enableDigestDeduplication: Boolean
    distributedID: String
    clientID: ID
    sequenceClientID: ID
    storageRegion: String
    cloudRegionID: ID
    clientMutationId: String
  }

  type CreateArtifactPayload { artifact: Artifact! }

  input CreateArtifactManifestInput {
    artifactID: ID!
    baseArtifactID: ID
    name: String!
    digest: String!
    entityName: String!
    projectName: String!
    runName: String
    type: ArtifactManifestType
    clientMutationId: String
  }

  type CreateArtifactManifestPayload { artifactManifest: ArtifactManifest! }

  input CreateArtifactFilesInput {
    artifactFiles: [CreateArtifactFileSpecInput!]!
    storageLayout: ArtifactStorageLayout
    storageRegion: String
    cloudRegionID: ID
    clientMutationId: String
  }

  input CreateArtifactFileSpecInput {
    artifactID: ID!
    artifactManifestID: ID
    name: String!
    md5: String!
    mimetype: String
    uploadPartsInput: [UploadPartsInput!]
  }

  input UploadPartsInput { partNumber: Int64! hexMD5: String! }

  type CreateArtifactFilesPayload { files: ArtifactUploadConnection! }
  type ArtifactUploadConnection { edges: [ArtifactUploadEdge!]! }
  type ArtifactUploadEdge { node: ArtifactUpload }

  type ArtifactUpload {
    id: ID!
    name: String!
    displayName: String!
    storagePath: String
    uploadUrl: String
    uploadHeaders: [String!]!
    uploadMultipartUrls: UploadMultipartUrls
    artifact: Artifact
  }

  type UploadMultipartUrls { uploadID: String! uploadUrlParts: [UploadUrlPart!]! }
  type UploadUrlPart { partNumber: Int64! uploadUrl: String! }

  input CommitArtifactInput { artifactID: ID! clientMutationId: String }
  input DeleteArtifactInput { artifactID: ID! deleteAliases: Boolean clientMutationId: String }

  input UpdateArtifactInput {
    artifactID: ID!
    description: String
    metadata: JSONString
    labels: JSONString
    ttlDurationSeconds: Int64
    tagsToAdd: [TagInput!]
    tagsToDelete: [TagInput!]
    aliases: [ArtifactAliasInput!]
    clientMutationId: String
  }

  enum CompleteMultipartAction { Complete }

  input CompleteMultipartUploadArtifactInput {
    completeMultipartAction: CompleteMultipartAction!
    completedParts: [UploadPartsInput!]!
    artifactID: ID!
    storagePath: String!
    uploadID: String!
    clientMutationId: String
  }

  type CompleteMultipartUploadArtifactPayload { digest: String }

  input UseArtifactInput {
    artifactID: ID!
    entityName: String!
    projectName: String!
    runName: String!
    usedAs: String
    artifactEntityName: String
    artifactProjectName: String
    clientMutationId: String
  }

  input AddAliasesInput {
    artifactID: ID!
    aliases: [ArtifactCollectionAliasInput!]!
    clientMutationId: String
  }

  input DeleteAliasesInput {
    artifactID: ID!
    aliases: [ArtifactCollectionAliasInput!]!
    clientMutationId: String
  }

  type ArtifactPayload { artifact: Artifact! }
  type SuccessPayload { success: Boolean! }
`
