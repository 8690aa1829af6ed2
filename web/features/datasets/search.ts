import { z } from 'zod/mini'

export const datasetsSearch = z.object({
  /** The dataset that is looked into; empty for the list. */
  name: z.catch(z._default(z.string(), ''), ''),
  /** A digest, or `latest`. */
  version: z.catch(z._default(z.string(), 'latest'), 'latest'),
  /** The digest of a table that is looked into without a dataset; empty for none. */
  table: z.catch(z._default(z.string(), ''), ''),
  /** The digest of a row that a ref names; once it is found, its place is `open`. Empty for none. */
  row: z.catch(z._default(z.string(), ''), ''),
  /** The place of the row that is looked at, from 0; -1 for none. */
  open: z.catch(z._default(z.number(), -1), -1),
})
