import { type Route, route } from '../../http/route.ts'
import { ProjectPath } from '../../trace/project-path-wire.ts'
import { DeleteRes } from '../../trace/typed-objects/wire.ts'
import type { EvaluationRuns } from './service.ts'
import * as wire from './wire.ts'

export function evaluationRunsRoutes(service: EvaluationRuns): Route[] {
  return [...runsRoutes(service), ...predictionsRoutes(service), ...scoresRoutes(service)]
}

function runsRoutes({ runs }: EvaluationRuns): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/evaluation_runs',
      operationId: 'evaluation_run_create',
      summary: 'Start an evaluation run',
      family: 'trace',
      pathParams: ProjectPath,
      body: wire.RunCreateReq,
      reply: 'json',
      response: wire.RunCreateRes,
      handle: runs.create,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/evaluation_runs',
      operationId: 'evaluation_run_list',
      summary: 'List evaluation runs, one JSON document a line',
      family: 'trace',
      pathParams: ProjectPath,
      query: wire.RunListQuery,
      reply: 'jsonl',
      response: wire.EvaluationRun,
      handle: runs.list,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/evaluation_runs/{evaluation_run_id}',
      operationId: 'evaluation_run_read',
      summary: 'Read an evaluation run',
      family: 'trace',
      pathParams: wire.RunPath,
      reply: 'json',
      response: wire.EvaluationRun,
      handle: runs.read,
    }),
    route({
      method: 'DELETE',
      path: '/v2/{entity}/{project}/evaluation_runs',
      operationId: 'evaluation_run_delete',
      summary: 'Delete evaluation runs',
      family: 'trace',
      pathParams: ProjectPath,
      query: wire.RunDeleteQuery,
      reply: 'json',
      response: DeleteRes,
      handle: runs.delete,
    }),
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/evaluation_runs/{evaluation_run_id}/finish',
      operationId: 'evaluation_run_finish',
      summary: 'Finish an evaluation run with its summary',
      family: 'trace',
      pathParams: wire.RunPath,
      body: wire.RunFinishReq,
      reply: 'json',
      response: wire.Success,
      handle: runs.finish,
    }),
  ]
}

function predictionsRoutes({ predictions }: EvaluationRuns): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/predictions',
      operationId: 'prediction_create',
      summary: 'Record a prediction',
      family: 'trace',
      pathParams: ProjectPath,
      body: wire.PredictionCreateReq,
      reply: 'json',
      response: wire.PredictionCreateRes,
      handle: predictions.create,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/predictions',
      operationId: 'prediction_list',
      summary: 'List predictions, one JSON document a line',
      family: 'trace',
      pathParams: ProjectPath,
      query: wire.ListOfRunQuery,
      reply: 'jsonl',
      response: wire.Prediction,
      handle: predictions.list,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/predictions/{prediction_id}',
      operationId: 'prediction_read',
      summary: 'Read a prediction',
      family: 'trace',
      pathParams: wire.PredictionPath,
      reply: 'json',
      response: wire.Prediction,
      handle: predictions.read,
    }),
    route({
      method: 'DELETE',
      path: '/v2/{entity}/{project}/predictions',
      operationId: 'prediction_delete',
      summary: 'Delete predictions',
      family: 'trace',
      pathParams: ProjectPath,
      query: wire.PredictionDeleteQuery,
      reply: 'json',
      response: DeleteRes,
      handle: predictions.delete,
    }),
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/predictions/{prediction_id}/finish',
      operationId: 'prediction_finish',
      summary: 'Finish a prediction',
      family: 'trace',
      pathParams: wire.PredictionPath,
      reply: 'json',
      response: wire.Success,
      handle: predictions.finish,
    }),
  ]
}

function scoresRoutes({ scores }: EvaluationRuns): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/scores',
      operationId: 'score_create',
      summary: 'Record a score of a prediction',
      family: 'trace',
      pathParams: ProjectPath,
      body: wire.ScoreCreateReq,
      reply: 'json',
      response: wire.ScoreCreateRes,
      handle: scores.create,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/scores',
      operationId: 'score_list',
      summary: 'List scores, one JSON document a line',
      family: 'trace',
      pathParams: ProjectPath,
      query: wire.ListOfRunQuery,
      reply: 'jsonl',
      response: wire.Score,
      handle: scores.list,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/scores/{score_id}',
      operationId: 'score_read',
      summary: 'Read a score',
      family: 'trace',
      pathParams: wire.ScorePath,
      reply: 'json',
      response: wire.Score,
      handle: scores.read,
    }),
    route({
      method: 'DELETE',
      path: '/v2/{entity}/{project}/scores',
      operationId: 'score_delete',
      summary: 'Delete scores',
      family: 'trace',
      pathParams: ProjectPath,
      query: wire.ScoreDeleteQuery,
      reply: 'json',
      response: DeleteRes,
      handle: scores.delete,
    }),
  ]
}
