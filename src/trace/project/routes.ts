import { type Route, route } from '../../http/route.ts'
import type { Project } from './service.ts'
import * as wire from './wire.ts'

export function projectRoutes(project: Project): Route[] {
  return [
    route({
      method: 'GET',
      path: '/projects/activity',
      operationId: 'projects_activity',
      summary: 'List projects with their latest activity',
      family: 'trace',
      reply: 'json',
      response: wire.ActivityRes,
      handle: project.activity,
    }),
    route({
      method: 'POST',
      path: '/project/stats',
      operationId: 'project_stats',
      summary: 'Bytes that a project stores',
      family: 'trace',
      body: wire.ProjectStatsReq,
      reply: 'json',
      response: wire.ProjectStatsRes,
      handle: project.stats,
    }),
    route({
      method: 'POST',
      path: '/project/ttl_settings/read',
      operationId: 'ttl_settings_read',
      summary: 'How long calls of a project are kept',
      family: 'trace',
      body: wire.ProjectReq,
      reply: 'json',
      response: wire.RetentionRes,
      handle: project.retention,
    }),
    route({
      method: 'POST',
      path: '/project/ttl_settings/update',
      operationId: 'ttl_settings_update',
      summary: 'Set how long calls of a project are kept: only without end so far',
      refusals: [501],
      family: 'trace',
      body: wire.RetentionUpdateReq,
      reply: 'json',
      response: wire.RetentionRes,
      handle: project.updateRetention,
    }),
    route({
      method: 'POST',
      path: '/project/ingest_sampling_settings/read',
      operationId: 'ingest_sampling_settings_read',
      summary: 'Which share of the calls of a project is kept',
      family: 'trace',
      body: wire.ProjectReq,
      reply: 'json',
      response: wire.SamplingRes,
      handle: project.sampling,
    }),
    route({
      method: 'GET',
      path: '/project/sensitive_data_settings',
      operationId: 'sensitive_data_settings_read',
      summary: 'Whether sensitive data of a project is removed',
      family: 'trace',
      query: wire.ProjectReq,
      reply: 'json',
      response: wire.SensitiveDataRes,
      handle: project.sensitiveData,
    }),
  ]
}
