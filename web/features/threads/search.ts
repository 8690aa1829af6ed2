import { z } from 'zod/mini'

/** What the page of threads shows, as the address has it. */
export const threadsSearch = z.object({
  /** The thread that is read; empty for the list alone. */
  thread: z.catch(z._default(z.string(), ''), ''),
})

export const THREADS_SEARCH_DEFAULTS = threadsSearch.parse({})
