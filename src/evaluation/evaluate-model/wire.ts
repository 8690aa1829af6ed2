import { z } from 'zod'
import { AnyJson } from '../../wire/json-text-wire.ts'

export const EvaluateModelReq = z.object({
  project_id: z.string(),
  evaluation_ref: z.string(),
  model_ref: z.string(),
})
export type EvaluateModelReq = z.output<typeof EvaluateModelReq>
export const EvaluateModelRes = z.object({ call_id: z.string() })
export type EvaluateModelRes = z.input<typeof EvaluateModelRes>

export const EvaluationCallReq = z.object({ project_id: z.string(), call_id: z.string() })
export type EvaluationCallReq = z.output<typeof EvaluationCallReq>

const Status = z.discriminatedUnion('code', [
  z.object({ code: z.literal('not_found') }),
  z.object({ code: z.literal('running'), completed_rows: z.int(), total_rows: z.int() }),
  z.object({ code: z.literal('failed'), error: z.string().nullable() }),
  z.object({ code: z.literal('complete'), output: AnyJson }),
])
export const EvaluationStatusRes = z.object({ status: Status })
export type EvaluationStatusRes = z.input<typeof EvaluationStatusRes>

export const Empty = z.object({})
export type Empty = z.input<typeof Empty>
