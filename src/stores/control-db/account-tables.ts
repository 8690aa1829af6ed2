/** People and service accounts. */
export interface UsersTable {
  id: string
  /** Also the name of the entity that is theirs alone, if they have one. */
  name: string
  email: string | null
  kind: 'person' | 'service'
  /** 1 for those who run the server. */
  is_operator: number
  /** 1 for those whom groups of the sign-in provider made operators. */
  operator_from_groups: number
  /** For requests that name none. */
  default_entity: string
  created_at: string
  /** Keys and sessions of a disabled user are refused. */
  disabled_at: string | null
}

/**
 * Teams, and the entities of single users. Entities that were used before accounts existed have no row until one is
 * made.
 */
export interface EntitiesTable {
  name: string
  kind: 'team' | 'personal'
  created_at: string
}

export interface MembershipsTable {
  entity: string
  user_id: string
  role: 'viewer' | 'member' | 'admin'
  created_at: string
  /** 1 for a membership that groups of the sign-in provider gave, and take away; 0 for one that was given by hand. */
  from_groups: number
}

/** Who a user is at a sign-in provider. */
export interface UserIdentitiesTable {
  issuer: string
  /** The provider's own id of the person, which is never given to another. */
  subject: string
  user_id: string
  created_at: string
}

/** Issuers of identity tokens that an entity trusts, and the service accounts that these tokens stand for. */
export interface IdentityProvidersTable {
  id: string
  entity: string
  /** The first one that fits a token counts. */
  position: number
  issuer: string
  audience: string
  /** JSON: patterns by the names of claims. */
  claims: string
  /** JSON: the issuer's public keys, where they are not fetched from it. */
  jwks: string | null
  /** The service account. */
  user_id: string
  created_at: string
}

export interface ApiKeysTable {
  id: string
  /** The part of the key that finds its row; shown in lists. */
  prefix: string
  /** HMAC-SHA-256 of the whole key, hexadecimal. */
  hash: string
  user_id: string
  name: string
  scope: 'all' | 'read' | 'ingest' | 'inference'
  /** `entity/project` of a key for one project. */
  project_id: string | null
  created_at: string
  expires_at: string | null
  /** To the minute. */
  last_used_at: string | null
  revoked_at: string | null
}

/** Browsers that have signed in. */
export interface SessionsTable {
  /** HMAC-SHA-256 of the cookie's value, hexadecimal. */
  hash: string
  user_id: string
  created_at: string
  expires_at: string
  /** The key that it was made with, and ends with. */
  key_id: string | null
}

/** Links that sign a user in once; a used one is deleted. */
export interface SignInLinksTable {
  /** HMAC-SHA-256 of the token, hexadecimal. */
  hash: string
  user_id: string
  expires_at: string
  /** The key that it was made with, and ends with. */
  key_id: string | null
}

/** Who changed access, keys, settings or deleted and exported data. Rows are only added. */
export interface AuditEventsTable {
  /** Rises with time. */
  id: string
  at: string
  /** The user's name. */
  actor: string
  key_id: string
  /** Such as `key.create`. */
  action: string
  /** Null for what concerns the whole server. */
  entity: string | null
  /** What was acted on. */
  subject: string
  /** JSON: what changed, without secrets. */
  details: string
}
