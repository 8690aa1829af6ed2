import { z } from 'zod'
import { recordOf } from '../../wire/bounded-wire.ts'

/** An operation declares some. */
const VARIABLES_MAX = 1_000

export const GraphqlReq = z.object({
  query: z.string(),
  variables: recordOf(z.unknown(), VARIABLES_MAX).nullish(),
  operationName: z.string().nullish(),
})
export type GraphqlReq = z.output<typeof GraphqlReq>

export const GraphqlRes = z
  .object({
    data: z.record(z.string(), z.unknown()).nullable().optional(),
    errors: z.array(z.looseObject({ message: z.string() })).optional(),
  })
  .meta({ id: 'GraphqlResult' })
export type GraphqlRes = z.output<typeof GraphqlRes>
