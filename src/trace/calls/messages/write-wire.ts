import { z } from 'zod'
import { CallComplete, CallEnd, CallStart } from './call-wire.ts'

const NullishString = z.string().nullish()

export const CallStartReq = z.object({ start: CallStart })
export type CallStartReq = z.output<typeof CallStartReq>

export const CallEndReq = z.object({ end: CallEnd })
export type CallEndReq = z.output<typeof CallEndReq>

export const CallUpsertBatchReq = z.object({
  batch: z.array(
    z.discriminatedUnion('mode', [
      z.object({ mode: z.literal('start'), req: CallStartReq }),
      z.object({ mode: z.literal('end'), req: CallEndReq }),
    ]),
  ),
})
export type CallUpsertBatchReq = z.output<typeof CallUpsertBatchReq>

/** Wire: in the v2 routes items may leave the project out; the path wins in any case. */
const inPath = { project_id: NullishString }
export const CallsCompleteReq = z.object({ batch: z.array(CallComplete.extend(inPath)) })
export type CallsCompleteReq = z.output<typeof CallsCompleteReq>
export const CallStartV2Req = z.object({ start: CallStart.extend(inPath) })
export type CallStartV2Req = z.output<typeof CallStartV2Req>
export const CallEndV2Req = z.object({ end: CallEnd.extend(inPath) })
export type CallEndV2Req = z.output<typeof CallEndV2Req>

export const CallUpdateReq = z.object({
  project_id: z.string(),
  call_id: z.string(),
  display_name: NullishString,
})
export type CallUpdateReq = z.output<typeof CallUpdateReq>

export const CallsDeleteReq = z.object({ project_id: z.string(), call_ids: z.array(z.string()) })
export type CallsDeleteReq = z.output<typeof CallsDeleteReq>
