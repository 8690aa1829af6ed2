import { z } from 'zod'
import { ProjectPath } from '../../trace/project-path-wire.ts'
import { ListQuery, Strings } from '../../trace/typed-objects/wire.ts'
import { AnyJson, JsonObject } from '../../wire/json-text-wire.ts'

const DateTime = z.string().meta({ format: 'date-time' })

export const Success = z.object({ success: z.boolean() })
export type Success = z.input<typeof Success>

/** A list that may be of one run alone. */
export const ListOfRunQuery = ListQuery.extend({ evaluation_run_id: z.string().optional() })
export type ListOfRunReq = ProjectPath & z.output<typeof ListOfRunQuery>

export const RunPath = ProjectPath.extend({ evaluation_run_id: z.string() })
export type RunPath = z.output<typeof RunPath>

export const RunCreateReq = z.object({
  evaluation: z.string(),
  model: z.string(),
  source_evaluation_run_id: z.string().nullish(),
})
export type RunCreateReq = ProjectPath & z.output<typeof RunCreateReq>
export const RunCreateRes = z.object({ evaluation_run_id: z.string() })
export type RunCreateRes = z.input<typeof RunCreateRes>

export const RunListQuery = ListQuery.extend({
  evaluations: Strings.optional(),
  models: Strings.optional(),
  evaluation_run_ids: Strings.optional(),
})
export type RunListReq = ProjectPath & z.output<typeof RunListQuery>

export const RunDeleteQuery = z.object({ evaluation_run_ids: Strings })
export type RunDeleteReq = ProjectPath & z.output<typeof RunDeleteQuery>

export const RunFinishReq = z.object({ summary: JsonObject.nullish() })
export type RunFinishReq = RunPath & z.output<typeof RunFinishReq>

export const EvaluationRun = z
  .object({
    evaluation_run_id: z.string(),
    evaluation: z.string(),
    model: z.string(),
    status: z.enum(['running', 'completed', 'failed']),
    started_at: DateTime,
    finished_at: DateTime.nullable(),
    summary: JsonObject,
    source_evaluation_run_id: z.string().nullable(),
  })
  .meta({ id: 'EvaluationRun' })
export type EvaluationRun = z.input<typeof EvaluationRun>

export const PredictionPath = ProjectPath.extend({ prediction_id: z.string() })
export type PredictionPath = z.output<typeof PredictionPath>

export const PredictionCreateReq = z.object({
  model: z.string(),
  inputs: JsonObject,
  output: AnyJson.nullable(),
  evaluation_run_id: z.string().nullish(),
  genai_span_ref: z.array(z.object({ trace_id: z.string(), span_id: z.string() })).nullish(),
})
export type PredictionCreateReq = ProjectPath & z.output<typeof PredictionCreateReq>
export const PredictionCreateRes = z.object({ prediction_id: z.string() })
export type PredictionCreateRes = z.input<typeof PredictionCreateRes>

export const PredictionDeleteQuery = z.object({ prediction_ids: Strings })
export type PredictionDeleteReq = ProjectPath & z.output<typeof PredictionDeleteQuery>

export const Prediction = z
  .object({
    prediction_id: z.string(),
    model: z.string(),
    inputs: JsonObject,
    output: AnyJson.nullable(),
    evaluation_run_id: z.string().nullable(),
    wb_user_id: z.string().nullable(),
  })
  .meta({ id: 'Prediction' })
export type Prediction = z.input<typeof Prediction>

export const ScorePath = ProjectPath.extend({ score_id: z.string() })
export type ScorePath = z.output<typeof ScorePath>

export const ScoreCreateReq = z.object({
  prediction_id: z.string(),
  scorer: z.string(),
  value: z.number(),
  evaluation_run_id: z.string().nullish(),
})
export type ScoreCreateReq = ProjectPath & z.output<typeof ScoreCreateReq>
export const ScoreCreateRes = z.object({ score_id: z.string() })
export type ScoreCreateRes = z.input<typeof ScoreCreateRes>

export const ScoreDeleteQuery = z.object({ score_ids: Strings })
export type ScoreDeleteReq = ProjectPath & z.output<typeof ScoreDeleteQuery>

export const Score = z
  .object({
    score_id: z.string(),
    scorer: z.string(),
    value: z.number(),
    evaluation_run_id: z.string().nullable(),
    wb_user_id: z.string().nullable(),
  })
  .meta({ id: 'Score' })
export type Score = z.input<typeof Score>
