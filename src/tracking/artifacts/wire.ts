import { z } from 'zod'
import { pageOf } from '../../wire/page-wire.ts'

/** Query parameters of a signed URL. */
export const SignedQuery = z.object({ expires: z.int(), signature: z.string() })

export const ArtifactPath = z.object({ artifact_id: z.string() })
export const FilePath = z.object({ artifact_id: z.string(), name: z.string() })
export const SignedFileQuery = SignedQuery.extend({ name: z.string() })

/** Wire: where a client finds a file without a signed URL: the version that it was uploaded for, and its MD5. */
export const LayoutPath = z.object({
  region: z.string(),
  entity: z.string(),
  project: z.string(),
  collection: z.string(),
  birth_artifact_id: z.string(),
  md5_hex: z.string(),
  name: z.string(),
})

export const UploadRes = z.object({})
export type UploadRes = z.input<typeof UploadRes>
export const Bytes = z.string().meta({ description: 'The bytes of the file', format: 'binary' })

export const ArtifactsListQuery = z.object({
  entity: z.string().optional(),
  project: z.string(),
  type: z.string().optional(),
  name: z.string().optional(),
  after: z.string().optional(),
  limit: z.int().min(1).max(100).default(20),
})
export type ArtifactsListQuery = z.output<typeof ArtifactsListQuery>

export const ArtifactItem = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.string(),
    version: z.int(),
    aliases: z.array(z.string()),
    metadata: z.record(z.string(), z.unknown()),
    digest: z.string(),
    size: z.int(),
    file_count: z.int(),
    /** The first thousand by name. */
    files: z.array(
      z.object({
        name: z.string(),
        /** Of a reference, its digest. */
        md5: z.string(),
        size: z.int(),
        /** Where the bytes are, a URI; null for a file whose bytes are here. */
        reference: z.string().nullable(),
      }),
    ),
    created_at: z.string(),
    created_by: z.string(),
  })
  .meta({ id: 'ArtifactVersion' })

export const ArtifactsListRes = pageOf(ArtifactItem)
export type ArtifactsListRes = z.input<typeof ArtifactsListRes>
