import { z } from 'zod'
import { boundedParts } from '../query-language/bounded-parts-wire.ts'
import { AnyObject, AnyValue, model, optional } from './stored-model.ts'

/** A query as a saved view keeps it: each operation as an object of its own class. */

const closed = { extras: 'refuse' } as const

const Operand: z.ZodType = z.lazy(() =>
  z.union([
    model('LiteralOperation', { $literal: Literal }, closed),
    model('GetFieldOperator', { $getField: z.string() }, closed),
    model('ConvertOperation', { $convert: Convert }, closed),
    Operation,
  ]),
)

const Literal: z.ZodType = z.lazy(() => z.union([z.array(Operand), z.record(z.string(), Operand), Scalar]))
const Scalar = AnyValue.refine((value) => !Array.isArray(value) && !AnyObject.safeParse(value).success)

const Convert = model('ConvertSpec', {
  input: Operand,
  to: z.enum(['double', 'string', 'int', 'bool', 'exists']),
})

const Contains = model('ContainsSpec', {
  input: Operand,
  substr: Operand,
  case_insensitive: z.boolean().nullable().default(false),
})

const Pair = z.tuple([Operand, Operand])

const Operation = z.union([
  model('AndOperation', { $and: z.array(Operand) }, closed),
  model('OrOperation', { $or: z.array(Operand) }, closed),
  model('NotOperation', { $not: z.tuple([Operand]) }, closed),
  model('EqOperation', { $eq: Pair }, closed),
  model('GtOperation', { $gt: Pair }, closed),
  model('LtOperation', { $lt: Pair }, closed),
  model('GteOperation', { $gte: Pair }, closed),
  model('LteOperation', { $lte: Pair }, closed),
  model('InOperation', { $in: z.tuple([Operand, z.array(Operand)]) }, closed),
  model('ContainsOperation', { $contains: Contains }, closed),
])

function isPlainLiteral(value: object): boolean {
  return '$literal' in value && Scalar.safeParse(value.$literal).success
}

export const StoredQuery = z.preprocess(
  boundedParts(isPlainLiteral),
  model('Query', { $expr: Operation }, closed),
)

/** Wire: classes of requests have one base more. */
const ofRequest = { bases: ['BaseModelStrict'], extras: 'refuse' } as const

export const StoredSortBy = model(
  'SortBy',
  { field: z.string(), direction: z.enum(['asc', 'desc']) },
  ofRequest,
)

const Strings = optional(z.array(z.string()))

export const StoredCallsFilter = model(
  'CallsFilter',
  {
    op_names: Strings,
    input_refs: Strings,
    output_refs: Strings,
    parent_ids: Strings,
    trace_ids: Strings,
    call_ids: Strings,
    thread_ids: Strings,
    turn_ids: Strings,
    trace_roots_only: optional(z.boolean()),
    wb_user_ids: Strings,
    wb_run_ids: Strings,
  },
  ofRequest,
)
