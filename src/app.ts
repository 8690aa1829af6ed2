import type { Route } from './http/route.ts'
import { callsRoutes } from './trace/calls/routes.ts'
import type { Calls } from './trace/calls/service.ts'
import { serviceInfoRoutes } from './trace/service-info/routes.ts'
import type { ServiceInfo } from './trace/service-info/service.ts'

/** Every service that answers requests. */
export interface Services {
  calls: Calls
  serviceInfo: ServiceInfo
}

/** The API at a glance: one line a resource. */
export function routesOf(services: Services): Route[] {
  return [...callsRoutes(services.calls), ...serviceInfoRoutes(services.serviceInfo)]
}
