import type { BlobOwner } from '../../blob-sweep.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { knownDataKeys } from './queries.ts'

/** Below which prefix the trajectories of RL jobs are. */
const PREFIX = 'trajectory-groups/'

/** The key of the trajectories of a job. */
export function dataKeyOf(jobId: string): string {
  return `${PREFIX}${jobId}.jsonl`
}

/** Jobs own their training data. */
export function jobsOwner(control: ControlDb): BlobOwner {
  return { prefix: PREFIX, ownedOf: async (keys) => new Set(await knownDataKeys(control, keys)) }
}
