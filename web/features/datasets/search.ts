import { z } from 'zod/mini'

export const datasetsSearch = z.object({
  /** The dataset that is looked into; empty for the list. */
  name: z.catch(z._default(z.string(), ''), ''),
  /** A digest, or `latest`. */
  version: z.catch(z._default(z.string(), 'latest'), 'latest'),
  /** The place of the row that is looked at, from 0; -1 for none. */
  open: z.catch(z._default(z.number(), -1), -1),
})
