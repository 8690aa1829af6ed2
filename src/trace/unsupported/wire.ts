import { z } from 'zod'

/** Nothing is ever answered but an error. */
export const Nothing = z.never()

export const RuntimePath = z.object({ entity: z.string(), project: z.string(), runtime_name: z.string() })
