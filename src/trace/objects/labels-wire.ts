import { z } from 'zod'

/** Wire: words of letters, digits, `_` and `-`, with single spaces between them. */
const TAG = /^[-\p{L}\p{N}_]+( [-\p{L}\p{N}_]+)*$/u
const TAG_CHARS_MAX = 256

/** Wire: any text that cannot be a digest, an index or `latest`, and does not break a ref. */
const ALIAS = /^(?!latest$|v\d+$)(?=.*\S)[^/:]+$/s
const ALIAS_CHARS_MAX = 128

const Tag = z
  .string()
  .max(TAG_CHARS_MAX)
  .regex(TAG, { error: 'A tag has words of letters, digits, "_" and "-" with single spaces between them' })

const Alias = z
  .string()
  .max(ALIAS_CHARS_MAX)
  .regex(ALIAS, { error: 'An alias has no "/" and ":", is not blank, and not "latest" or "v" and a number' })

export const ObjectPath = z.object({ object_id: z.string() })
type ObjectPath = z.output<typeof ObjectPath>

export const VersionPath = z.object({ object_id: z.string(), digest: z.string() })
type VersionPath = z.output<typeof VersionPath>

export const ObjAddTagsReq = z.object({ project_id: z.string(), tags: z.array(Tag) })
export type ObjAddTagsReq = VersionPath & z.output<typeof ObjAddTagsReq>

/** Wire: a text that could never be a tag may still be removed. */
export const ObjRemoveTagsReq = z.object({ project_id: z.string(), tags: z.array(z.string()) })
export type ObjRemoveTagsReq = VersionPath & z.output<typeof ObjRemoveTagsReq>

export const ObjSetAliasesReq = z.object({
  project_id: z.string(),
  digest: z.string(),
  aliases: z.array(Alias),
})
export type ObjSetAliasesReq = ObjectPath & z.output<typeof ObjSetAliasesReq>

export const ObjRemoveAliasesReq = z.object({ project_id: z.string(), aliases: z.array(Alias) })
export type ObjRemoveAliasesReq = ObjectPath & z.output<typeof ObjRemoveAliasesReq>

export const LabelsChangeRes = z.object({})
export type LabelsChangeRes = z.input<typeof LabelsChangeRes>

export const LabelsListReq = z.object({ project_id: z.string() })
export type LabelsListReq = z.output<typeof LabelsListReq>
export const TagsListRes = z.object({ tags: z.array(z.string()) })
export type TagsListRes = z.input<typeof TagsListRes>
export const AliasesListRes = z.object({ aliases: z.array(z.string()) })
export type AliasesListRes = z.input<typeof AliasesListRes>
