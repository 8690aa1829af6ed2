import { z } from 'zod/mini'

export const homeSearch = z.object({
  /** Whether the lines for clients are shown instead of the projects. */
  connect: z.catch(z._default(z.boolean(), false), false),
  /** A part of the names of the projects that are listed; empty for all. */
  find: z.catch(z._default(z.string(), ''), ''),
})
