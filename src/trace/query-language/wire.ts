import { z } from 'zod'
import { boundedParts } from './bounded-parts-wire.ts'

/** The query language of the trace API: a Mongo-like expression tree. */

export type Operand =
  | { $literal: string | number | boolean | null }
  | { $getField: string }
  | { $convert: { input: Operand; to: ConvertTarget } }
  | Operation

export type ConvertTarget = 'double' | 'string' | 'int' | 'bool' | 'exists'

export type Operation =
  | { $and: Operand[] }
  | { $or: Operand[] }
  | { $not: [Operand] }
  | { $eq: [Operand, Operand] }
  | { $gt: [Operand, Operand] }
  | { $lt: [Operand, Operand] }
  | { $gte: [Operand, Operand] }
  | { $lte: [Operand, Operand] }
  | { $in: [Operand, Operand[]] }
  | { $contains: { input: Operand; substr: Operand; case_insensitive?: boolean | null | undefined } }

const Operand: z.ZodType<Operand> = z
  .lazy(() =>
    z.union([
      z.strictObject({ $literal: z.union([z.string(), z.number(), z.boolean(), z.null()]) }),
      z.strictObject({ $getField: z.string() }),
      z.strictObject({
        $convert: z.object({ input: Operand, to: z.enum(['double', 'string', 'int', 'bool', 'exists']) }),
      }),
      Operation,
    ]),
  )
  .meta({ id: 'Operand' })

const Pair = z.tuple([Operand, Operand])

const Operation: z.ZodType<Operation> = z
  .lazy(() =>
    z.union([
      z.strictObject({ $and: z.array(Operand) }),
      z.strictObject({ $or: z.array(Operand) }),
      z.strictObject({ $not: z.tuple([Operand]) }),
      z.strictObject({ $eq: Pair }),
      z.strictObject({ $gt: Pair }),
      z.strictObject({ $lt: Pair }),
      z.strictObject({ $gte: Pair }),
      z.strictObject({ $lte: Pair }),
      z.strictObject({ $in: z.tuple([Operand, z.array(Operand)]) }),
      z.strictObject({
        $contains: z.object({ input: Operand, substr: Operand, case_insensitive: z.boolean().nullish() }),
      }),
    ]),
  )
  .meta({ id: 'Operation' })

function isLiteral(value: object): boolean {
  return '$literal' in value && Object.keys(value).length === 1
}

export const Query = z
  .object({ $expr: z.preprocess(boundedParts(isLiteral), Operation) })
  .meta({ id: 'Query' })
export type Query = z.output<typeof Query>

export const SortBy = z
  .object({ field: z.string(), direction: z.enum(['asc', 'desc']) })
  .meta({ id: 'SortBy' })
export type SortBy = z.output<typeof SortBy>

/** More keys than clients sort by: each is planned by the database, which took seconds for thousands. */
const SORT_KEYS_MAX = 32

/** What a list is sorted by, the most important first. */
export const SortKeys = z.array(SortBy).max(SORT_KEYS_MAX)

/** More fields than rows have columns, and than a table shows. */
const FIELDS_MAX = 1000

/** Fields of the rows of a project for which a query holds. */
export const RowsQueryReq = z.object({
  project_id: z.string(),
  fields: z.array(z.string()).max(FIELDS_MAX).nullish(),
  query: Query.nullish(),
  sort_by: SortKeys.nullish(),
  limit: z.int().nullish(),
  offset: z.int().nullish(),
})
export type RowsQueryReq = z.output<typeof RowsQueryReq>
