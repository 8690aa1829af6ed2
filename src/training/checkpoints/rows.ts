import { z } from 'zod'
import { ManifestEntry, parseManifest, type StoredFiles } from '../checkpoint-files/checkpoint-files.ts'
import type { BestRule } from './best-step-wire.ts'
import type { CheckpointRow } from './queries.ts'

const Metrics = z.record(z.string(), z.number())

/** The base model with the adapter merged into it. */
export const Merged = z.object({ manifest: z.array(ManifestEntry), logprob_gap_max: z.number() })
export type Merged = z.output<typeof Merged>

/** A checkpoint as other services use it. */
export interface StoredCheckpoint extends StoredFiles {
  id: string
  step: number
}

/** The columns of a model that checkpoints need. */
export interface ModelOfCheckpoints extends BestRule {
  id: string
  entity: string
  project: string
  name: string
  created_by: string
}

/** The owner of the contents of a checkpoint. */
export const OWNER_PREFIX = 'checkpoint:'

export function stored(row: CheckpointRow): StoredCheckpoint {
  const { id, step, adapter_digest, manifest } = row
  return { id, step, adapter_digest, manifest: parseManifest(manifest) }
}

export function mergedOf(row: CheckpointRow): Merged | null {
  return row.merged === null ? null : Merged.parse(JSON.parse(row.merged))
}

export function metricsOf(row: Pick<CheckpointRow, 'metrics'>): Record<string, number> {
  return Metrics.parse(JSON.parse(row.metrics))
}
