import { type Route, route } from '../../http/route.ts'
import type { ServiceInfo } from './service.ts'
import {
  GeolocateRes,
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
      summary: 'A page for people',
      family: 'trace',
      access: 'open',
      reply: 'raw',
      replyTypes: ['text/html'],
      response: WelcomePage,
      handle: service.welcome,
    }),
    route({
      method: 'GET',
      path: '/version',
      operationId: 'version',
      summary: 'Version of the server',
      family: 'trace',
      access: 'open',
      reply: 'json',
      response: VersionRes,
      handle: service.version,
    }),
    route({
      method: 'GET',
      path: '/server_info',
      operationId: 'server_info',
      summary: 'What a client has to know of the server',
      family: 'trace',
      access: 'open',
      reply: 'json',
      response: ServerInfoRes,
      handle: service.serverInfo,
    }),
    route({
      method: 'GET',
      path: '/geolocate',
      operationId: 'geolocate',
      summary: 'Where the caller is: always unknown',
      family: 'trace',
      access: 'any-key',
      reply: 'json',
      response: GeolocateRes,
      handle: service.geolocate,
    }),
    route({
      method: 'POST',
      path: '/service/projects_info',
      operationId: 'projects_info',
      summary: 'Ids of projects by name',
      family: 'trace',
      access: 'any-key',
      body: ProjectsInfoReq,
      reply: 'json',
      response: ProjectsInfoRes,
      handle: service.projectsInfo,
    }),
  ]
}
