import { z } from 'zod'

/** The only reply is an error. */
export const Nothing = z.never()

export const RuntimePath = z.object({ entity: z.string(), project: z.string(), runtime_name: z.string() })
