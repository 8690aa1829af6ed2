/** A named series of artifact versions; its name is unique in its project, whatever its type and kind. */
export interface ArtifactCollectionsTable {
  id: string
  entity: string
  project: string
  name: string
  type: string
  /** A sequence has versions of its own; a portfolio has links to versions of sequences, which it numbers itself. */
  kind: 'sequence' | 'portfolio'
  description: string | null
  /** JSON: a list of texts. */
  tags: string
  /** When its name, type, description or tags were changed; null before the first change. */
  updated_at: string | null
  /** The highest version ever given out, -1 before the first; never goes down, so that no version is used twice. */
  last_version: number
  created_at: string
}

export interface ArtifactVersionsTable {
  id: string
  collection_id: string
  /** Given out when the version is committed. */
  version: number | null
  state: 'PENDING' | 'COMMITTED' | 'DELETED'
  /** Over the names and MD5s of its files, as W&B clients compute it. */
  digest: string
  description: string | null
  /** JSON: an object. */
  metadata: string
  /** JSON: a list of texts. */
  tags: string
  /** JSON: the aliases that a pending version gets when it is committed. */
  wanted_aliases: string
  /** Base64; announced for the manifest of a pending version. */
  manifest_md5: string | null
  /** The content that a pending version owns as its manifest. */
  manifest_digest: string | null
  /** The run that logged it. */
  run_id: string | null
  /** What its client calls it before it has an id here. */
  client_id: string | null
  created_by: string
  created_at: string
  updated_at: string
}

export interface ArtifactFilesTable {
  artifact_id: string
  name: string
  /** Base64; of a reference, what the client knows its target by. */
  md5: string
  /** Null for a file that was announced and has not arrived yet, and for a reference. */
  digest: string | null
  size: number
  /** Where the bytes are, a URI; null for a file whose bytes are here. */
  reference: string | null
  /** JSON: an object, what the client needs to read a reference; null where it gave nothing. */
  extra: string | null
}

/** Aliases of committed versions; `latest` is computed and never stored. */
export interface ArtifactAliasesTable {
  /** The sequence of the version, or a portfolio that has it. */
  collection_id: string
  alias: string
  artifact_id: string
}

/** Versions that portfolios have. */
export interface ArtifactLinksTable {
  id: string
  /** The portfolio. */
  collection_id: string
  artifact_id: string
  /** The number of the version in the portfolio. */
  version: number
  created_at: string
}

/** Which runs took which versions as input. */
export interface ArtifactUsesTable {
  run_id: string
  artifact_id: string
}
