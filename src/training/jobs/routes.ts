import { z } from 'zod'
import { type Route, route } from '../../http/route.ts'
import type { Jobs } from './service.ts'
import {
  EventsListQuery,
  EventsListRes,
  JobCreateReq,
  JobPath,
  JobRes,
  JobsListQuery,
  JobsListRes,
  SftJobCreateReq,
} from './wire.ts'

const JobStream = z.object({ stream: z.custom<ReadableStream<Uint8Array>>() })

export function jobsRoutes(jobs: Jobs): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/preview/training-jobs',
      operationId: 'create_training_job',
      family: 'training',
      body: JobStream,
      bodyKind: 'stream',
      streamedBody: JobCreateReq,
      reply: 'json',
      response: JobRes,
      handle: jobs.create,
    }),
    route({
      method: 'POST',
      path: '/v1/preview/sft-training-jobs',
      operationId: 'create_sft_training_job',
      family: 'training',
      body: SftJobCreateReq,
      reply: 'json',
      response: JobRes,
      handle: jobs.createSft,
    }),
    route({
      method: 'GET',
      path: '/v1/preview/training-jobs',
      operationId: 'list_training_jobs',
      family: 'training',
      query: JobsListQuery,
      reply: 'json',
      response: JobsListRes,
      handle: jobs.list,
    }),
    route({
      method: 'GET',
      path: '/v1/preview/training-jobs/{training_job_id}',
      operationId: 'get_training_job',
      family: 'training',
      pathParams: JobPath,
      reply: 'json',
      response: JobRes,
      handle: jobs.get,
    }),
    route({
      method: 'POST',
      path: '/v1/preview/training-jobs/{training_job_id}/cancel',
      operationId: 'cancel_training_job',
      family: 'training',
      pathParams: JobPath,
      reply: 'json',
      response: JobRes,
      handle: jobs.cancel,
    }),
    route({
      method: 'GET',
      path: '/v1/preview/training-jobs/{training_job_id}/events',
      operationId: 'list_training_job_events',
      family: 'training',
      pathParams: JobPath,
      query: EventsListQuery,
      reply: 'json',
      response: EventsListRes,
      handle: jobs.events,
    }),
  ]
}
