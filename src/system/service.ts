import { createDisk, type DiskDeps } from './disk.ts'
import { createEngineLogs } from './engine-logs.ts'

export type System = ReturnType<typeof createSystem>

/** Disk usage of the server, and the logs of its engines. */
export function createSystem(deps: DiskDeps) {
  const logs = createEngineLogs(deps.logsFolder)
  return { disk: createDisk(deps), logs: logs.list, log: logs.read }
}
