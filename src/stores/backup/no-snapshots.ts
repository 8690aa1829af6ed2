import { conflict } from '../../errors.ts'
import type { LiveSnapshots } from './live-snapshots.ts'

/** Stores that others operate, and that they back up: what each is, and how it is copied there. */
const ELSEWHERE = {
  clickhouse: 'the trace database on ClickHouse (BACKUP DATABASE … TO S3(…))',
  postgres: 'the control database on PostgreSQL (pg_dump, or archived write-ahead logs)',
  s3: 'the files on S3 (versioning or replication of the bucket)',
}

/** Stores elsewhere. */
export type StoreElsewhere = keyof typeof ELSEWHERE

/** Those of the settings that are set. */
export function storesElsewhere(settings: Readonly<Record<StoreElsewhere, unknown>>): StoreElsewhere[] {
  return (['clickhouse', 'postgres', 's3'] as const).filter((store) => settings[store] !== undefined)
}

/** Says which stores a backup would lack. */
export function refusalOfBackup(elsewhere: readonly StoreElsewhere[]): string {
  const stores = new Intl.ListFormat('en').format(elsewhere.map((store) => ELSEWHERE[store]))
  return `A backup would lack ${stores}: docs/OPERATIONS.md says how to back up stores elsewhere`
}

/** Snapshots of stores that are not all in the data folder: there are none. */
export function refuseSnapshots(elsewhere: readonly StoreElsewhere[]): LiveSnapshots {
  return {
    async take() {
      throw conflict(refusalOfBackup(elsewhere))
    },
  }
}
