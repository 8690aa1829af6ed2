import type { z } from 'zod'
import { createDisk, type DiskDeps } from './disk.ts'
import { createEngineLogs, type EngineLogs } from './engine-logs.ts'
import type { DiskRes } from './wire.ts'

/** Disk usage of the server, and the logs of its engines. */
export interface Machine {
  disk(): Promise<z.input<typeof DiskRes>>
  logs: EngineLogs['list']
  log: EngineLogs['read']
}

export function createMachine(deps: DiskDeps): Machine {
  const logs = createEngineLogs(deps.logsFolder)
  return { disk: createDisk(deps), logs: logs.list, log: logs.read }
}
