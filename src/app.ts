import type { Route } from './http/route.ts'
import { serviceInfoRoutes } from './trace/service-info/routes.ts'
import type { ServiceInfo } from './trace/service-info/service.ts'

/** Every service that answers requests. */
export interface Services {
  serviceInfo: ServiceInfo
}

/** The API at a glance: one line a resource. */
export function routesOf(services: Services): Route[] {
  return [...serviceInfoRoutes(services.serviceInfo)]
}
