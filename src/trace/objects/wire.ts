import { z } from 'zod'
import { AnyJson } from '../../wire/json-text-wire.ts'
import { SortKeys } from '../query-language/wire.ts'

const NullishStrings = z.array(z.string()).nullish()

export const ObjCreateReq = z.object({
  obj: z.object({
    project_id: z.string(),
    object_id: z.string(),
    val: AnyJson.nullable(),
    builtin_object_class: z.string().nullish(),
    set_base_object_class: z.string().nullish(),
    expected_digest: z.string().nullish(),
  }),
})
export type ObjCreateReq = z.output<typeof ObjCreateReq>
/** Wire: clients ignore further members. */
export const ObjCreateRes = z.object({
  digest: z.string(),
  object_id: z.string(),
  warnings: z
    .array(z.string())
    .optional()
    .meta({ description: 'What a published object that is to do something will not do, and why' }),
})
export type ObjCreateRes = z.input<typeof ObjCreateRes>

/** One version of an object. Wire: `is_latest` is 0 or 1; `tags` and `aliases` are null unless requested. */
export const Obj = z
  .object({
    project_id: z.string(),
    object_id: z.string(),
    created_at: z.string(),
    deleted_at: z.string().nullable(),
    digest: z.string(),
    version_index: z.int(),
    is_latest: z.int(),
    kind: z.string(),
    base_object_class: z.string().nullable(),
    leaf_object_class: z.string().nullable(),
    val: AnyJson.nullable(),
    wb_user_id: z.string().nullable(),
    size_bytes: z.int().nullable(),
    tags: z.array(z.string()).nullable(),
    aliases: z.array(z.string()).nullable(),
  })
  .meta({ id: 'Obj' })
export type Obj = z.input<typeof Obj>

export const ObjReadReq = z.object({
  project_id: z.string(),
  object_id: z.string(),
  digest: z.string(),
  metadata_only: z.boolean().nullish(),
  include_tags_and_aliases: z.boolean().nullish(),
})
export type ObjReadReq = z.output<typeof ObjReadReq>
export const ObjReadRes = z.object({ obj: Obj })
export type ObjReadRes = z.input<typeof ObjReadRes>

export const ObjsFilter = z.object({
  base_object_classes: NullishStrings,
  exclude_base_object_classes: NullishStrings,
  leaf_object_classes: NullishStrings,
  object_ids: NullishStrings,
  is_op: z.boolean().nullish(),
  latest_only: z.boolean().nullish(),
  tags: NullishStrings,
  aliases: NullishStrings,
  name_contains: z
    .string()
    .nullish()
    .meta({ description: 'Of Heddle alone: objects with this in their name, in any case' }),
})
export type ObjsFilter = z.output<typeof ObjsFilter>

export const ObjsQueryReq = z.object({
  project_id: z.string(),
  filter: ObjsFilter.nullish(),
  limit: z.int().nullish(),
  offset: z.int().nullish(),
  sort_by: SortKeys.nullish(),
  metadata_only: z.boolean().nullish(),
  include_storage_size: z.boolean().nullish(),
  include_tags_and_aliases: z.boolean().nullish(),
})
export type ObjsQueryReq = z.output<typeof ObjsQueryReq>
export const ObjsQueryRes = z.object({ objs: z.array(Obj) })
export type ObjsQueryRes = z.input<typeof ObjsQueryRes>

export const ObjDeleteReq = z.object({
  project_id: z.string(),
  object_id: z.string(),
  digests: NullishStrings,
})
export type ObjDeleteReq = z.output<typeof ObjDeleteReq>
export const ObjDeleteRes = z.object({
  num_deleted: z.int(),
  deleted_versions: z.array(
    z.object({
      digest: z.string(),
      base_object_class: z.string().nullable(),
      leaf_object_class: z.string().nullable(),
    }),
  ),
})
export type ObjDeleteRes = z.input<typeof ObjDeleteRes>
