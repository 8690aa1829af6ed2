import { z } from 'zod'

export const GraphqlReq = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
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
