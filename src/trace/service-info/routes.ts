import { type Route, route } from '../../http/route.ts'
import type { ServiceInfo } from './service.ts'
import {
  GeolocateRes,
  HealthRes,
  ProjectsInfoReq,
  ProjectsInfoRes,
  ServerInfoRes,
  VersionRes,
  WelcomePage,
} from './wire.ts'

export function serviceInfoRoutes(service: ServiceInfo): Route[] {
  return [
    route({
      method: 'GET',
      path: '/',
      operationId: 'welcome',
      family: 'trace',
      auth: 'open',
      reply: 'raw',
      response: WelcomePage,
      handle: service.welcome,
    }),
    route({
      method: 'GET',
      path: '/health',
      operationId: 'health',
      family: 'trace',
      auth: 'open',
      reply: 'raw',
      response: HealthRes,
      handle: service.health,
    }),
    route({
      method: 'GET',
      path: '/version',
      operationId: 'version',
      family: 'trace',
      auth: 'open',
      reply: 'json',
      response: VersionRes,
      handle: service.version,
    }),
    route({
      method: 'GET',
      path: '/server_info',
      operationId: 'server_info',
      family: 'trace',
      auth: 'open',
      reply: 'json',
      response: ServerInfoRes,
      handle: service.serverInfo,
    }),
    route({
      method: 'GET',
      path: '/geolocate',
      operationId: 'geolocate',
      family: 'trace',
      reply: 'json',
      response: GeolocateRes,
      handle: service.geolocate,
    }),
    route({
      method: 'POST',
      path: '/service/projects_info',
      operationId: 'projects_info',
      family: 'trace',
      body: ProjectsInfoReq,
      reply: 'json',
      response: ProjectsInfoRes,
      handle: service.projectsInfo,
    }),
  ]
}
