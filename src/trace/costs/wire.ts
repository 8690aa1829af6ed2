import { z } from 'zod'
import { recordOf } from '../../wire/bounded-wire.ts'
import { Query, RowsQueryReq } from '../query-language/wire.ts'

const DateTime = z.string().meta({ format: 'date-time' })

/** The price of one token. Wire: a null unit means USD, a null provider `default`, a null date now. */
const CostInput = z
  .object({
    prompt_token_cost: z.number(),
    completion_token_cost: z.number(),
    cache_read_input_token_cost: z.number().default(0),
    cache_creation_input_token_cost: z.number().default(0),
    prompt_token_cost_unit: z.string().nullish(),
    completion_token_cost_unit: z.string().nullish(),
    effective_date: DateTime.nullish(),
    provider_id: z.string().nullish(),
  })
  .meta({ id: 'CostInput' })

/** Prices in one request: several times the models of a public price list. */
const COSTS_MAX = 10_000

export const CostCreateReq = z.object({ project_id: z.string(), costs: recordOf(CostInput, COSTS_MAX) })
export type CostCreateReq = z.output<typeof CostCreateReq>

/** Pairs of cost id and model, in the order of the request. */
export const CostCreateRes = z.object({ ids: z.array(z.tuple([z.string(), z.string()])) })
export type CostCreateRes = z.input<typeof CostCreateRes>

export const CostQueryReq = RowsQueryReq
export type CostQueryReq = z.output<typeof CostQueryReq>

/** Wire: fields that were not requested are null. */
export const Cost = z
  .object({
    id: z.string().nullable(),
    llm_id: z.string().nullable(),
    provider_id: z.string().nullable(),
    effective_date: DateTime.nullable(),
    prompt_token_cost: z.number().nullable(),
    completion_token_cost: z.number().nullable(),
    cache_read_input_token_cost: z.number().nullable(),
    cache_creation_input_token_cost: z.number().nullable(),
    prompt_token_cost_unit: z.string().nullable(),
    completion_token_cost_unit: z.string().nullable(),
  })
  .meta({ id: 'Cost' })
export type Cost = z.output<typeof Cost>
export const CostQueryRes = z.object({ results: z.array(Cost) })
export type CostQueryRes = z.input<typeof CostQueryRes>

export const CostPurgeReq = z.object({ project_id: z.string(), query: Query })
export type CostPurgeReq = z.output<typeof CostPurgeReq>
export const CostPurgeRes = z.object({})
export type CostPurgeRes = z.input<typeof CostPurgeRes>
