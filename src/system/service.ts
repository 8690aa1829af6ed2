import { createDisk, type DiskDeps } from './disk.ts'
import { createEngineLogs } from './engine-logs.ts'

export type System = ReturnType<typeof createSystem>

/** What the server takes of its machine's disk, and what its engines write. */
export function createSystem(deps: DiskDeps) {
  const logs = createEngineLogs(deps.logsFolder)
  return { disk: createDisk(deps), logs: logs.list, log: logs.read }
}
