import { projectsPart } from './accounts/graphql/projects-part.ts'
import { createGraphql } from './accounts/graphql/service.ts'
import { createProjects } from './accounts/projects.ts'
import { createChatServices } from './inference/create.ts'
import type { Log } from './log.ts'
import type { Stores } from './stores/open-stores.ts'
import { createCalls } from './trace/calls/service.ts'
import { createFeedback } from './trace/feedback/service.ts'
import { createFiles } from './trace/files/service.ts'
import { createObjects } from './trace/objects/service.ts'
import { createRefs } from './trace/refs/service.ts'
import { createServiceInfo } from './trace/service-info/service.ts'
import { createTables } from './trace/tables/service.ts'
import { createTraining, type EngineOptions } from './training/create.ts'

/** Wires every service to the stores; `main.ts` and tests share it. */
export function createServices(
  stores: Stores,
  options: { version: string; log: Log; engine: EngineOptions },
) {
  const { blobs, control, traces } = stores
  const projects = createProjects({ control })
  const training = createTraining({ stores, projects, log: options.log, engine: options.engine })
  const objects = createObjects({ traces, projects })
  const tables = createTables({ traces, projects })
  const feedback = createFeedback({ traces, projects, objects })
  return {
    calls: createCalls({ traces, projects, feedback }),
    files: createFiles({ traces, blobs, projects }),
    feedback,
    objects,
    refs: createRefs({ objects, tables }),
    tables,
    graphql: createGraphql([projectsPart(projects)]),
    serviceInfo: createServiceInfo({ projects, version: options.version }),
    ...training,
    ...createChatServices(training, options.engine),
  }
}
