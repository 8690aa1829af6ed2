import { z } from 'zod'

export const BackupReq = z.strictObject({
  path: z.string().min(1).meta({
    description:
      'An absolute path on the machine of the server: of a new or empty folder, or of a new file that ends in .tar',
  }),
})
export type BackupReq = z.output<typeof BackupReq>

const Count = z.int().min(0)

/** One line while the backup is written, and a last one that says how it ended. */
export const BackupRes = z
  .discriminatedUnion('state', [
    z.object({
      state: z.literal('preparing'),
      files: Count.meta({ description: 'Files that the backup keeps so far' }),
    }),
    z.object({
      state: z.literal('copying'),
      held_ms: z.number().meta({ description: 'Milliseconds in which writes waited' }),
      files: Count,
      bytes: Count,
      bytes_total: Count,
    }),
    z.object({
      state: z.literal('done'),
      path: z.string(),
      taken_at: z.string().meta({ description: 'The moment whose state the backup is' }),
      held_ms: z.number(),
      files: Count,
      bytes: Count,
      broken_parts: Count.meta({
        description: 'Parts of the trace database that could not be read, whose rows are in no backup',
      }),
    }),
    z.object({ state: z.literal('failed'), error: z.string() }),
  ])
  .meta({ id: 'BackupProgress' })
export type BackupRes = z.output<typeof BackupRes>
