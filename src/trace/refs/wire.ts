import { z } from 'zod'
import { AnyJson } from '../../wire/json-text-wire.ts'

export const RefsReadBatchReq = z.object({ refs: z.array(z.string()) })
export type RefsReadBatchReq = z.output<typeof RefsReadBatchReq>
export const RefsReadBatchRes = z.object({ vals: z.array(AnyJson.nullable()) })
export type RefsReadBatchRes = z.input<typeof RefsReadBatchRes>
