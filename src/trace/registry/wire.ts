import { z } from 'zod'

export const LinkReq = z.object({
  ref: z.string(),
  target: z.object({
    portfolio_name: z.string().min(1).max(128),
    entity_name: z.string().min(1),
    project_name: z.string().min(1),
  }),
  aliases: z.array(z.string()).default([]),
})
export type LinkReq = z.output<typeof LinkReq>

export const LinkRes = z.object({ version_index: z.int() })
export type LinkRes = z.input<typeof LinkRes>
