/** A store that was moved elsewhere, or is being moved. */
export interface MovesTable {
  id: string
  store: 'trace_db' | 'control_db' | 'blobs'
  /** Where it was: a folder, or an address without a password. */
  from_place: string
  to_place: string
  started_at: string
  /** Null until all of it is there. */
  finished_at: string | null
}
