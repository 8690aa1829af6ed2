import { type Route, route } from '../../http/route.ts'
import type { Objects } from './service.ts'
import * as wire from './wire.ts'

export function objectsRoutes(objects: Objects): Route[] {
  return [
    route({
      method: 'POST',
      path: '/obj/create',
      operationId: 'obj_create',
      family: 'trace',
      body: wire.ObjCreateReq,
      reply: 'json',
      response: wire.ObjCreateRes,
      handle: objects.create,
    }),
    route({
      method: 'POST',
      path: '/obj/read',
      operationId: 'obj_read',
      family: 'trace',
      body: wire.ObjReadReq,
      reply: 'json',
      response: wire.ObjReadRes,
      handle: objects.read,
    }),
    route({
      method: 'POST',
      path: '/objs/query',
      operationId: 'objs_query',
      family: 'trace',
      body: wire.ObjsQueryReq,
      reply: 'json',
      response: wire.ObjsQueryRes,
      handle: objects.query,
    }),
    route({
      method: 'POST',
      path: '/obj/delete',
      operationId: 'obj_delete',
      family: 'trace',
      body: wire.ObjDeleteReq,
      reply: 'json',
      response: wire.ObjDeleteRes,
      handle: objects.delete,
    }),
  ]
}
