import { z } from 'zod/mini'

/** As many as fit side by side and can still be read. */
export const COLUMNS_MAX = 4

export const playgroundSearch = z.object({
  /** The model of each column, as the API names it: `entity/project/name:step3`, or a base model. */
  models: z.catch(z._default(z.array(z.string()).check(z.maxLength(COLUMNS_MAX)), []), []),
  /** The id of a call that is replayed. */
  call: z.catch(z._default(z.string(), ''), ''),
})
export type PlaygroundSearch = z.infer<typeof playgroundSearch>
export const PLAYGROUND_SEARCH_DEFAULTS: PlaygroundSearch = playgroundSearch.parse({})
