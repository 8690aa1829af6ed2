import type { Kysely } from 'kysely'

/** A project exists from its first use. */
export interface ProjectsTable {
  entity: string
  name: string
  created_at: string
}

/** Every table of the control database; date-times are ISO 8601 texts, JSON values are texts. */
export interface ControlTables {
  projects: ProjectsTable
}

/** The control database: small rows that must agree with each other. */
export type ControlDb = Kysely<ControlTables>
