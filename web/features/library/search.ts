import { z } from 'zod/mini'
import { KINDS } from './kinds.ts'

export const librarySearch = z.object({
  kind: z.catch(z._default(z.enum(KINDS), 'objects'), 'objects'),
  /** A part of the names that are listed; empty for all. */
  find: z.catch(z._default(z.string(), ''), ''),
})
