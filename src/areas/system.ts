import type { Projects } from '../accounts/projects.ts'
import type { AuthMode } from '../accounts/sessions/me.ts'
import type { BlobSweep } from '../blob-sweep.ts'
import type { Log } from '../log.ts'
import type { Stores } from '../open-stores.ts'
import type { Redaction } from '../redaction/service.ts'
import { engineLogsFolder } from '../stores/processes/log-folder.ts'
import type { CountedTraceDb } from '../stores/trace-db/counted.ts'
import { backupRoutes } from '../system/backup/routes.ts'
import { createBackups } from '../system/backup/service.ts'
import { healthRoutes } from '../system/health/routes.ts'
import { createHealth } from '../system/health/service.ts'
import { machineRoutes } from '../system/machine/routes.ts'
import { createMachine } from '../system/machine/service.ts'
import { metricsRoutes } from '../system/metrics/routes.ts'
import { createMetrics, type Metrics } from '../system/metrics/service.ts'
import { serviceInfoRoutes } from '../system/service-info/routes.ts'
import { createServiceInfo } from '../system/service-info/service.ts'
import type { UnexpectedErrors } from '../unexpected-errors.ts'
import type { Area } from './area.ts'
import type { EngineOptions, TrainingArea } from './training.ts'

export interface SystemDeps {
  auth: AuthMode
  version: string
  log: Log
  stores: Stores & { traces: CountedTraceDb }
  projects: Projects
  engine: EngineOptions
  blobSweep: BlobSweep
  redaction: Pick<Redaction, 'totals'>
  unexpected: UnexpectedErrors
  stopping: AbortSignal
  dataFolder: string
  /** The workspace folder, in the data folder or elsewhere. */
  engineFolder: string
  training: Pick<TrainingArea, 'jobs'>
}

/** The state of the server itself: health, metrics, disk and logs. */
export interface SystemArea extends Area {
  metrics: Metrics
}

export function createSystemArea(deps: SystemDeps): SystemArea {
  const { version, log, stores, projects, engine, blobSweep, redaction, unexpected, stopping } = deps
  const { dataFolder, engineFolder } = deps
  const { jobs } = deps.training
  const metrics = createMetrics({ ...stores, jobs, unexpected, blobSweep, redaction })
  const logsFolder = engineLogsFolder(dataFolder)
  return {
    metrics,
    routes: [
      ...serviceInfoRoutes(createServiceInfo({ projects, version, auth: deps.auth })),
      ...healthRoutes(createHealth({ ...engine, stores, control: stores.control, unexpected, stopping })),
      ...metricsRoutes(metrics),
      ...backupRoutes(createBackups({ dataFolder, version, stores, log })),
      ...machineRoutes(createMachine({ ...stores, dataFolder, engineFolder, logsFolder })),
    ],
  }
}
