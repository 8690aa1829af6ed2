/** How many days a project keeps a kind of data; no row where it is kept without end. */
export interface RetentionSettingsTable {
  /** `entity/project`. */
  project_id: string
  kind: string
  days: number
  updated_by: string
  updated_at: string
}

/** Erasures that were requested, and how far they are. Rows stay, as receipts. */
export interface ErasuresTable {
  /** Rises with time. */
  id: string
  kind: 'project' | 'entity' | 'user'
  /** Whose it was; null for a user. */
  entity: string | null
  /** The project's id, the entity, or the pseudonym of the user. */
  subject: string
  requested_by: string
  key_id: string
  /** 1 where what a user wrote is erased too. */
  with_data: number
  /** JSON: what there was, by kind; null until it was counted. */
  amounts: string | null
  requested_at: string
  /** When no reply could have the data any more. */
  unreadable_at: string | null
  /** When the last row was deleted. */
  erased_at: string | null
  /** When no file on the disk had the data any more. */
  gone_at: string | null
}

/** The projects of an erasure. They are closed while it goes on. */
export interface ErasedProjectsTable {
  erasure_id: string
  /** `entity/project`. */
  project_id: string
}
