import { z } from 'zod'
import { JsonObject } from '../../wire/json-text-wire.ts'
import { ProjectPath } from '../project-path-wire.ts'

export const ObjectPath = ProjectPath.extend({ object_id: z.string() })
export const VersionPath = ObjectPath.extend({ digest: z.string() })
export type VersionPath = z.output<typeof VersionPath>

export const ListQuery = z.object({ limit: z.int().optional(), offset: z.int().optional() })
export type ListReq = ProjectPath & z.output<typeof ListQuery>

/** Wire: a list is its key repeated. */
export const Strings = z.union([z.string().transform((one) => [one]), z.array(z.string())])

export const DeleteQuery = z.object({ digests: Strings.optional() })
export type DeleteReq = z.output<typeof ObjectPath> & z.output<typeof DeleteQuery>
export const DeleteRes = z.object({ num_deleted: z.int() })
export type DeleteRes = z.input<typeof DeleteRes>

/** The reply to every creation. */
const Created = z.object({ digest: z.string(), object_id: z.string(), version_index: z.int() })
export type CreatedVersion = z.output<typeof Created>

/** The fields of every version. */
const Version = z.object({
  object_id: z.string(),
  digest: z.string(),
  version_index: z.int(),
  created_at: z.string(),
})
export type Version = z.output<typeof Version>

const Named = Version.extend({ name: z.string(), description: z.string().nullable() })
export type NamedVersion = z.output<typeof Named>

export const OpCreateReq = z.object({ name: z.string().nullish(), source_code: z.string().nullish() })
export type OpCreateReq = ProjectPath & z.output<typeof OpCreateReq>
export const OpCreateRes = Created
/** Wire: `code` is empty where the source is missing. */
export const Op = Version.extend({ code: z.string() }).meta({ id: 'Op' })
export type Op = z.input<typeof Op>

export const DatasetCreateReq = z.object({
  name: z.string().nullish(),
  description: z.string().nullish(),
  rows: z.array(JsonObject),
})
export type DatasetCreateReq = ProjectPath & z.output<typeof DatasetCreateReq>
export const DatasetCreateRes = Created
/** `rows` is a ref to a table. */
export const Dataset = Named.extend({ rows: z.string() }).meta({ id: 'Dataset' })
export type Dataset = z.input<typeof Dataset>

export const ScorerCreateReq = z.object({
  name: z.string(),
  description: z.string().nullish(),
  op_source_code: z.string(),
})
export type ScorerCreateReq = ProjectPath & z.output<typeof ScorerCreateReq>
export const ScorerCreateRes = Created.extend({ scorer: z.string() })
export type ScorerCreateRes = z.input<typeof ScorerCreateRes>
/** Wire: `score_op` is the digest of an op, or a ref to one where a client published the scorer. */
export const Scorer = Named.extend({ score_op: z.string() }).meta({ id: 'Scorer' })
export type Scorer = z.input<typeof Scorer>

export const ModelCreateReq = z.object({
  name: z.string(),
  description: z.string().nullish(),
  source_code: z.string(),
  attributes: JsonObject.nullish(),
})
export type ModelCreateReq = ProjectPath & z.output<typeof ModelCreateReq>
export const ModelCreateRes = Created.extend({ model_ref: z.string() })
export type ModelCreateRes = z.input<typeof ModelCreateRes>
export const TypedModel = Named.extend({
  source_code: z.string(),
  attributes: JsonObject.nullable(),
}).meta({ id: 'TypedModel' })
export type TypedModel = z.input<typeof TypedModel>

export const EvaluationCreateReq = z.object({
  name: z.string(),
  description: z.string().nullish(),
  dataset: z.string(),
  scorers: z.array(z.string()).nullish(),
  trials: z.int().min(1).default(1),
  evaluation_name: z.string().nullish(),
  eval_attributes: JsonObject.nullish(),
})
export type EvaluationCreateReq = ProjectPath & z.output<typeof EvaluationCreateReq>
export const EvaluationCreateRes = Created.extend({ evaluation_ref: z.string() })
export type EvaluationCreateRes = z.input<typeof EvaluationCreateRes>
/** Wire: ops are digests, or refs where a client published the evaluation. */
export const Evaluation = Named.extend({
  dataset: z.string(),
  scorers: z.array(z.string()),
  trials: z.int(),
  evaluation_name: z.string().nullable(),
  evaluate_op: z.string().nullable(),
  predict_and_score_op: z.string().nullable(),
  summarize_op: z.string().nullable(),
}).meta({ id: 'Evaluation' })
export type Evaluation = z.input<typeof Evaluation>
