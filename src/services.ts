import { createProjects } from './accounts/projects.ts'
import type { Services } from './app.ts'
import type { Log } from './log.ts'
import type { Stores } from './stores/open-stores.ts'
import { createCalls } from './trace/calls/service.ts'
import { createServiceInfo } from './trace/service-info/service.ts'

/** Wires every service to the stores; `main.ts` and tests share it. */
export function createServices(stores: Stores, options: { version: string; log: Log }): Services {
  const { control, traces } = stores
  const projects = createProjects({ control })
  return {
    calls: createCalls({ traces, projects }),
    serviceInfo: createServiceInfo({ projects, version: options.version }),
  }
}
