import { z } from 'zod/mini'

export const objectSearch = z.object({
  /** The digest of the version that this one is compared with; empty for none. */
  with: z.catch(z._default(z.string(), ''), ''),
})
