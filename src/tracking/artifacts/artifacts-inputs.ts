/** The inputs of mutations, as `artifacts-types.ts` declares them, without ignored members. */

interface Tag {
  tagName: string
}

export interface CreateArtifact {
  entityName: string
  projectName: string
  runName?: string | null
  artifactTypeName: string
  artifactCollectionName?: string | null
  artifactCollectionNames?: string[] | null
  digest: string
  digestAlgorithm?: string | null
  clientID?: string | null
  description?: string | null
  aliases?: { alias: string }[] | null
  tags?: Tag[] | null
  metadata?: string | null
  ttlDurationSeconds?: number | string | null
  distributedID?: string | null
}

export interface CreateManifest {
  artifactID: string
  name: string
  /** The MD5 of the manifest, base64; empty while it is not known. */
  digest: string
  type?: string | null
}

export interface CreateFiles {
  artifactFiles: { artifactID: string; name: string; md5: string }[]
}

export interface CommitArtifact {
  artifactID: string
}

export interface UpdateArtifact {
  artifactID: string
  description?: string | null
  metadata?: string | null
  ttlDurationSeconds?: number | string | null
  tagsToAdd?: Tag[] | null
  tagsToDelete?: Tag[] | null
  aliases?: { alias: string }[] | null
}

export interface DeleteArtifact {
  artifactID: string
  deleteAliases?: boolean | null
}

export interface UseArtifact {
  artifactID: string
  entityName: string
  projectName: string
  runName: string
}

export interface Aliases {
  artifactID: string
  aliases: { entityName: string; projectName: string; artifactCollectionName: string; alias: string }[]
}

export interface LinkArtifact {
  artifactID?: string | null
  artifactPortfolioID?: string | null
  artifactPortfolioName?: string | null
  entityName?: string | null
  projectName?: string | null
  aliases?: { alias: string }[] | null
}

export interface UnlinkArtifact {
  artifactID: string
  artifactPortfolioID: string
}

/** The name and description of a collection; absent members stay unchanged. */
export interface CollectionChange {
  name?: string | null
  description?: string | null
}

export interface MoveSequence {
  artifactSequenceID: string
  destinationArtifactTypeName: string
}

export interface CollectionTags {
  entityName: string
  projectName: string
  artifactCollectionName: string
  tags: Tag[]
}
