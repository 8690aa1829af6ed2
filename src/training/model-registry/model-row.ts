import type { ModelsTable } from '../../stores/control-db/tables.ts'

export type ModelRow = ModelsTable

export interface ModelName {
  entity: string
  project: string
  name: string
}

/** A name that models in several projects of an entity may have. */
export interface BareModelName {
  entity: string
  name: string
  /** Every project where undefined. */
  project: string | undefined
}

/** Models of an entity, from before the one given. */
export interface ModelPage {
  entity: string
  /** Every project where undefined. */
  project: string | undefined
  beforeId: string | undefined
  limit: number
}
