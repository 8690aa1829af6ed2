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
      family: 'trace',
      body: wire.QueueCreateReq,
      reply: 'json',
      response: wire.QueueCreateRes,
      handle: queues.create,
    }),
    route({
      method: 'POST',
      path: '/annotation_queues/query',
      operationId: 'annotation_queues_query',
      family: 'trace',
      body: wire.QueuesQueryReq,
      reply: 'jsonl',
      response: wire.AnnotationQueue,
      handle: queues.query,
    }),
    route({
      method: 'POST',
      path: '/annotation_queues/stats',
      operationId: 'annotation_queues_stats',
      family: 'trace',
      body: wire.QueuesStatsReq,
      reply: 'json',
      response: wire.QueuesStatsRes,
      handle: queues.stats,
    }),
    route({
      method: 'GET',
      path: '/annotation_queues/{queue_id}',
      operationId: 'annotation_queue_read',
      family: 'trace',
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
      family: 'trace',
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
      family: 'trace',
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
      family: 'trace',
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
      family: 'trace',
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
      family: 'trace',
      pathParams: wire.QueueItemPath,
      body: wire.ItemProgressReq,
      reply: 'json',
      response: wire.ItemProgressRes,
      handle: queues.setProgress,
    }),
  ]
}
