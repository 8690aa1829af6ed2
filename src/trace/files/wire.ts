import { z } from 'zod'

/** A multipart file as `http/` hands it over. */
const Upload = z
  .custom<{ name: string; type: string; bytes: Uint8Array }>(
    (value) => typeof value === 'object' && value !== null && 'bytes' in value,
    { error: 'Input should be a file', params: { type: 'file_type' } },
  )
  .meta({ type: 'string', format: 'binary' })

export const FileCreateReq = z.object({
  project_id: z.string(),
  file: Upload,
  expected_digest: z.string().nullish(),
})
export type FileCreateReq = z.output<typeof FileCreateReq>
export const FileCreateRes = z.object({ digest: z.string() })
export type FileCreateRes = z.input<typeof FileCreateRes>

export const FileContentReq = z.object({ project_id: z.string(), digest: z.string() })
export type FileContentReq = z.output<typeof FileContentReq>
export const FileContentRes = z.string().meta({ description: 'The bytes of the file', format: 'binary' })

export const FilesStatsReq = z.object({ project_id: z.string() })
export type FilesStatsReq = z.output<typeof FilesStatsReq>
export const FilesStatsRes = z.object({ total_size_bytes: z.int() })
export type FilesStatsRes = z.input<typeof FilesStatsRes>
