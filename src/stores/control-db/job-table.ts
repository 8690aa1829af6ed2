import type { Generated } from 'kysely'

/** A unit of durable work, and the lease of the server that runs it (src/jobs). */
export interface JobsTable {
  kind: string
  /** Unique among the jobs of its kind. */
  id: string
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'
  /** JSON, of the kind's schema. */
  payload: string
  /** The entity that it is for; '' for none, and in rows older than this column. */
  entity: Generated<string>
  /** The key that asked for it; '' as above. */
  key_id: Generated<string>
  /** At most one waiting job of a kind has a key; null once the job has been started. */
  singleton_key: string | null
  /** Group of the job: counts are by group and, where the kind defines it, jobs of a group run one after the other. */
  group_key: string | null
  /** A server runs one job of a key at a time. */
  concurrency_key: string | null
  /** A waiting job is due at this time. */
  run_at: string
  /** Attempts begun; counted before the handler runs. */
  attempts: number
  attempts_max: number
  /** Attempts during which the server ended; 0 in rows older than this column. */
  interruptions: Generated<number>
  /** The server that runs the job. */
  lease_owner: string | null
  /** Made anew each time the job is leased: a write with an older token has no effect. */
  lease_token: string | null
  /** After this time any server may take the job, unless a heartbeat extended it. */
  leased_until: string | null
  heartbeat_at: string | null
  /** Set when cancellation was requested. */
  cancel_reason: string | null
  /** JSON: the handler's last report; null while the job does not run. */
  progress: string | null
  last_error: string | null
  created_at: string
  /** Of the newest attempt. */
  started_at: string | null
  finished_at: string | null
}
