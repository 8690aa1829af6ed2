import type { Projects } from '../accounts/projects.ts'
import type { BlobSweep } from '../blob-sweep.ts'
import { metricsRoutes } from '../metrics/routes.ts'
import { createMetrics, type Metrics } from '../metrics/service.ts'
import type { Stores } from '../open-stores.ts'
import { engineLogsFolder } from '../stores/compute/log-folder.ts'
import type { Compute } from '../stores/compute/port.ts'
import type { CountedTraceDb } from '../stores/trace-db/counted.ts'
import { systemRoutes } from '../system/routes.ts'
import { createSystem } from '../system/service.ts'
import { serviceInfoRoutes } from '../trace/service-info/routes.ts'
import { createServiceInfo } from '../trace/service-info/service.ts'
import type { UnexpectedErrors } from '../unexpected-errors.ts'
import type { Area } from './area.ts'
import type { TrainingArea } from './training.ts'

export interface SystemDeps {
  version: string
  stores: Stores & { traces: CountedTraceDb }
  projects: Projects
  compute: Compute
  blobSweep: BlobSweep
  unexpected: UnexpectedErrors
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
  const { version, stores, projects, compute, blobSweep, unexpected, dataFolder, engineFolder } = deps
  const { jobs } = deps.training
  const metrics = createMetrics({ ...stores, jobs, unexpected, blobSweep })
  const logsFolder = engineLogsFolder(dataFolder)
  return {
    metrics,
    routes: [
      ...serviceInfoRoutes(createServiceInfo({ projects, version, stores, compute, unexpected })),
      ...metricsRoutes(metrics),
      ...systemRoutes(createSystem({ ...stores, dataFolder, engineFolder, logsFolder })),
    ],
  }
}
