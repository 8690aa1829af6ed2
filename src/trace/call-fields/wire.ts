import { z } from 'zod'
import { CallsFilter } from '../calls/messages/list-wire.ts'
import { Query } from '../query-language/wire.ts'

/** Fields in one reply: with their values about half a megabyte of JSON. */
const FIELDS_MAX = 2000

/** Values of one field: more are found by a query for the field. */
const VALUES_MAX = 100

export const CallFieldsReq = z.strictObject({
  project_id: z.string(),
  filter: CallsFilter.nullish(),
  query: Query.nullish(),
  prefix: z
    .string()
    .max(1000)
    .default('')
    .meta({ description: 'Only fields whose path begins so; a payload that has none of them is not read' }),
  limit: z.int().min(1).max(FIELDS_MAX).default(500).meta({ description: 'Fields in the reply' }),
  values: z.int().min(0).max(VALUES_MAX).default(5).meta({ description: 'Values of each field' }),
})
export type CallFieldsReq = z.output<typeof CallFieldsReq>

export const CallField = z
  .object({
    path: z
      .string()
      .meta({ description: 'As $getField takes it: a dot that is part of a key is written \\.' }),
    count: z.int().meta({ description: 'Calls among sampled_calls that have a value here other than null' }),
    types: z.array(z.enum(['string', 'number', 'boolean', 'list', 'object'])),
    example: z.string().nullable().meta({ description: 'The beginning of one of the values' }),
    values: z
      .array(z.object({ value: z.union([z.string(), z.number(), z.boolean()]), count: z.int() }))
      .meta({
        description:
          'The most frequent texts (of less than 128 bytes), numbers and booleans. Of a field with more than 256 different values each count is the least that is certain.',
      }),
  })
  .meta({ id: 'CallField' })
export type CallField = z.input<typeof CallField>

export const CallFieldsRes = z.object({
  fields: z.array(CallField).meta({ description: 'The most frequent first' }),
  has_more: z.boolean().meta({ description: 'There are more fields than limit: narrow them by prefix' }),
  sampled_calls: z.int().meta({ description: 'Calls that were read: the newest, and older ones of each op' }),
  total_calls: z.int().meta({ description: 'Calls that filter and query select' }),
  is_sample: z.boolean().meta({ description: 'Counts are of sampled_calls and not of all' }),
})
export type CallFieldsRes = z.input<typeof CallFieldsRes>
