import { z } from 'zod/mini'

export const homeSearch = z.object({
  /** Whether the lines for clients are shown instead of the projects. */
  connect: z.catch(z._default(z.boolean(), false), false),
})
