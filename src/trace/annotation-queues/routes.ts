import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { AnnotationQueues } from './service.ts'
import * as wire from './wire.ts'

export function annotationQueuesRoutes(queues: AnnotationQueues): Route[] {
  return [...queueRoutes(queues), ...itemRoutes(queues)]
}

function queueRoutes(queues: AnnotationQueues): Route[] {
  return [
    route({
      method: 'POST',
      path: '/annotation_queues',
      operationId: 'annotation_queue_create',
      summary: 'Create an annotation queue',
      family: 'trace',
      access: access.project('write'),
      body: wire.QueueCreateReq,
      reply: 'json',
      response: wire.QueueCreateRes,
      handle: queues.create,
    }),
    route({
      method: 'POST',
      path: '/annotation_queues/query',
      operationId: 'annotation_queues_query',
      summary: 'Query annotation queues, one JSON document a line',
      family: 'trace',
      access: access.project('read'),
      body: wire.QueuesQueryReq,
      reply: 'jsonl',
      response: wire.AnnotationQueue,
      handle: queues.query,
    }),
    route({
      method: 'POST',
      path: '/annotation_queues/stats',
      operationId: 'annotation_queues_stats',
      summary: 'Progress of annotation queues',
      family: 'trace',
      access: access.project('read'),
      body: wire.QueuesStatsReq,
      reply: 'json',
      response: wire.QueuesStatsRes,
      handle: queues.stats,
    }),
    route({
      method: 'GET',
      path: '/annotation_queues/{queue_id}',
      operationId: 'annotation_queue_read',
      summary: 'Read an annotation queue',
      family: 'trace',
      access: access.project('read'),
      pathParams: wire.QueuePath,
      query: wire.QueueProject,
      reply: 'json',
      response: wire.QueueRes,
      handle: queues.read,
    }),
    route({
      method: 'PUT',
      path: '/annotation_queues/{queue_id}',
      operationId: 'annotation_queue_update',
      summary: 'Change an annotation queue',
      family: 'trace',
      access: access.project('write'),
      pathParams: wire.QueuePath,
      body: wire.QueueUpdateReq,
      reply: 'json',
      response: wire.QueueRes,
      handle: queues.update,
    }),
    route({
      method: 'DELETE',
      path: '/annotation_queues/{queue_id}',
      operationId: 'annotation_queue_delete',
      summary: 'Delete an annotation queue',
      family: 'trace',
      access: access.project('write'),
      pathParams: wire.QueuePath,
      query: wire.QueueProject,
      reply: 'json',
      response: wire.QueueRes,
      handle: queues.remove,
    }),
  ]
}

function itemRoutes(queues: AnnotationQueues): Route[] {
  return [
    route({
      method: 'POST',
      path: '/annotation_queues/{queue_id}/items',
      operationId: 'annotation_queue_add_calls',
      summary: 'Add calls to an annotation queue',
      family: 'trace',
      access: access.project('write'),
      pathParams: wire.QueuePath,
      body: wire.QueueAddCallsReq,
      reply: 'json',
      response: wire.QueueAddCallsRes,
      handle: queues.addCalls,
    }),
    route({
      method: 'POST',
      path: '/annotation_queues/{queue_id}/items/query',
      operationId: 'annotation_queue_items_query',
      summary: 'Query items of an annotation queue',
      family: 'trace',
      access: access.project('read'),
      pathParams: wire.QueuePath,
      body: wire.QueueItemsQueryReq,
      reply: 'json',
      response: wire.QueueItemsQueryRes,
      handle: queues.queryItems,
    }),
    route({
      method: 'POST',
      path: '/annotation_queues/{queue_id}/items/{item_id}/progress',
      operationId: 'annotation_queue_item_progress',
      summary: 'Claim, complete or skip an item of an annotation queue',
      family: 'trace',
      access: access.project('write'),
      pathParams: wire.QueueItemPath,
      body: wire.ItemProgressReq,
      reply: 'json',
      response: wire.ItemProgressRes,
      refusals: [409],
      handle: queues.setProgress,
    }),
  ]
}
