import { z } from 'zod/mini'
import { TABS } from './detail/tabs.ts'

/** What the page of a call shows beside the call itself, which is in the path. */
export const callSearch = z.object({
  /** `auto` is the conversation, where the call has one, or else its payloads. */
  tab: z.catch(z._default(z.enum(TABS), 'auto'), 'auto'),
  /** What is looked for in the tree. */
  find: z.catch(z._default(z.string(), ''), ''),
  /** Whether the critical path is marked. */
  path: z.catch(z._default(z.enum(['hidden', 'critical']), 'hidden'), 'hidden'),
})

export type CallSearch = z.infer<typeof callSearch>

export const CALL_SEARCH_DEFAULTS: CallSearch = callSearch.parse({})
