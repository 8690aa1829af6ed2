import * as access from '../../http/access.ts'
import { type Route, route, UnreadBody } from '../../http/route.ts'
import type { TrainingData } from './service.ts'
import { TrainingDataDeleteRes, TrainingDataPath, TrainingLine, UploadRes } from './wire.ts'

export function trainingDataRoutes(trainingData: TrainingData): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/preview/training-data',
      operationId: 'upload_training_data',
      summary: 'Upload data for SFT',
      family: 'training',
      access: 'any-key',
      body: UnreadBody,
      bodyKind: 'stream',
      bodyTypes: ['application/jsonl', 'application/octet-stream'],
      streamedBody: TrainingLine,
      refusals: [402],
      reply: 'json',
      response: UploadRes,
      handle: trainingData.upload,
    }),
    route({
      method: 'DELETE',
      path: '/v1/preview/training-data/{training_data_id}',
      operationId: 'delete_training_data',
      summary: 'Delete uploaded data',
      family: 'training',
      access: access.owned('write', 'training data', 'training_data_id'),
      pathParams: TrainingDataPath,
      reply: 'json',
      response: TrainingDataDeleteRes,
      handle: trainingData.delete,
    }),
  ]
}
