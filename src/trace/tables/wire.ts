import { z } from 'zod'
import { JsonObject } from '../../wire/json-text-wire.ts'
import { SortKeys } from '../query-language/wire.ts'

export const TableCreateReq = z.object({
  table: z.object({
    project_id: z.string(),
    rows: z.array(JsonObject),
    expected_digest: z.string().nullish(),
  }),
})
export type TableCreateReq = z.output<typeof TableCreateReq>
export const TableCreateRes = z.object({ digest: z.string(), row_digests: z.array(z.string()) })
export type TableCreateRes = z.input<typeof TableCreateRes>

export const TableCreateFromDigestsReq = z.object({
  project_id: z.string(),
  row_digests: z.array(z.string()),
  expected_digest: z.string().nullish(),
})
export type TableCreateFromDigestsReq = z.output<typeof TableCreateFromDigestsReq>
export const TableCreateFromDigestsRes = z.object({ digest: z.string() })
export type TableCreateFromDigestsRes = z.input<typeof TableCreateFromDigestsRes>

const Append = z.strictObject({ append: z.object({ row: JsonObject }) })
const Pop = z.strictObject({ pop: z.object({ index: z.int() }) })
const Insert = z.strictObject({ insert: z.object({ index: z.int(), row: JsonObject }) })

/** Wire: each update has exactly one of the three keys. */
export const TableUpdate = z.union([Append, Pop, Insert])
export type TableUpdate = z.output<typeof TableUpdate>

export const TableUpdateReq = z.object({
  project_id: z.string(),
  base_digest: z.string(),
  updates: z.array(TableUpdate),
})
export type TableUpdateReq = z.output<typeof TableUpdateReq>
export const TableUpdateRes = z.object({ digest: z.string(), updated_row_digests: z.array(z.string()) })
export type TableUpdateRes = z.input<typeof TableUpdateRes>

export const TableQueryReq = z.object({
  project_id: z.string(),
  digest: z.string(),
  filter: z.object({ row_digests: z.array(z.string()).nullish() }).nullish(),
  limit: z.int().nullish(),
  offset: z.int().nullish(),
  sort_by: SortKeys.nullish(),
})
export type TableQueryReq = z.output<typeof TableQueryReq>

export const TableRow = z
  .object({ digest: z.string(), val: JsonObject, original_index: z.int() })
  .meta({ id: 'TableRow' })
export type TableRow = z.input<typeof TableRow>
export const TableQueryRes = z.object({ rows: z.array(TableRow) })
export type TableQueryRes = z.input<typeof TableQueryRes>

export const TableQueryStatsReq = z.object({ project_id: z.string(), digest: z.string() })
export type TableQueryStatsReq = z.output<typeof TableQueryStatsReq>
export const TableQueryStatsRes = z.object({ count: z.int() })
export type TableQueryStatsRes = z.input<typeof TableQueryStatsRes>

export const TableQueryStatsBatchReq = z.object({
  project_id: z.string(),
  digests: z.array(z.string()).nullish(),
  include_storage_size: z.boolean().nullish(),
})
export type TableQueryStatsBatchReq = z.output<typeof TableQueryStatsBatchReq>
export const TableQueryStatsBatchRes = z.object({
  tables: z.array(z.object({ digest: z.string(), count: z.int(), storage_size_bytes: z.int().nullable() })),
})
export type TableQueryStatsBatchRes = z.input<typeof TableQueryStatsBatchRes>
