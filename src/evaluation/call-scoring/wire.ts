import { z } from 'zod'

export const CallsScoreReq = z.object({
  project_id: z.string(),
  call_ids: z.array(z.string()),
  scorer_refs: z.array(z.string()),
})
export type CallsScoreReq = z.output<typeof CallsScoreReq>

export const CallsScoreRes = z.object({})
