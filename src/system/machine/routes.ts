import { type Route, route } from '../../http/route.ts'
import type { Machine } from './service.ts'
import { DiskRes, EngineLogPath, EngineLogPieceRes, EngineLogQuery, EngineLogsRes } from './wire.ts'

export function machineRoutes(machine: Machine): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/preview/system/disk',
      operationId: 'system_disk',
      summary: 'What the data folder holds',
      family: 'training',
      access: 'operator',
      reply: 'json',
      response: DiskRes,
      handle: machine.disk,
    }),
    route({
      method: 'GET',
      path: '/v1/preview/system/logs',
      operationId: 'system_logs',
      summary: 'List the logs of the engines',
      family: 'training',
      access: 'operator',
      reply: 'json',
      response: EngineLogsRes,
      handle: machine.logs,
    }),
    route({
      method: 'GET',
      path: '/v1/preview/system/logs/{name}',
      operationId: 'system_log',
      summary: 'Read the log of an engine',
      family: 'training',
      access: 'operator',
      pathParams: EngineLogPath,
      query: EngineLogQuery,
      reply: 'json',
      response: EngineLogPieceRes,
      handle: machine.log,
    }),
  ]
}
