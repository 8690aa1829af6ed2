import { z } from 'zod/mini'

/** How a value is compared; `has` and `lacks` take none. */
export const OPERATORS = ['is', 'isnt', 'contains', 'lt', 'lte', 'gt', 'gte', 'has', 'lacks'] as const
export type Operator = (typeof OPERATORS)[number]

const Comparison = z.object({ field: z.string(), op: z.enum(OPERATORS), value: z.string() })
export type Comparison = z.infer<typeof Comparison>

/** A part of a link that no chip can express: kept unchanged, an operation of the query language. */
const Opaque = z.object({ expr: z.record(z.string(), z.unknown()) })
export type Opaque = z.infer<typeof Opaque>

export type Condition = Comparison | Opaque

export const SORT_DEFAULT = '-started_at'

/** What the server can sort by: columns that every call has, what it derives of a call, and paths within payloads. */
const SORTS =
  /^-?(op|started_at|latency_ms|status|user|thread_id|id|(inputs|output|attributes)(\..+)?|summary\.(?!weave(\.|$)).+|summary\.weave\.(status|latency_ms|trace_name))$/

/**
 * Everything that decides what the page shows, as the address has it. Invalid fields of a link are ignored, one by one.
 */
export const tracesSearch = z.object({
  /** All must hold. */
  filter: z.catch(z._default(z.array(z.union([Comparison, Opaque])), []), []),
  /** Somewhere in the call. */
  text: z.catch(z._default(z.string(), ''), ''),
  /** `1h`, `7d`, `all`, two times with `..` between them, or empty: the shortest that has calls. */
  range: z.catch(z._default(z.string(), ''), ''),
  /** A field, with a minus when the largest come first. */
  sort: z.catch(z._default(z.string().check(z.regex(SORTS)), SORT_DEFAULT), SORT_DEFAULT),
  /** Ids of columns in order; empty for those that this browser remembers. */
  columns: z.catch(z._default(z.array(z.string()), []), []),
  /** Whether calls within others are listed too. */
  calls: z.catch(z._default(z.enum(['roots', 'all']), 'roots'), 'roots'),
  /** The id of the call that is looked at. */
  open: z.catch(z._default(z.string(), ''), ''),
  /** Which part of it; `auto` is the one that says most. */
  tab: z.catch(z._default(z.string(), 'auto'), 'auto'),
})

export type TracesSearch = z.infer<typeof tracesSearch>

export const TRACES_SEARCH_DEFAULTS: TracesSearch = tracesSearch.parse({})

/** Changes what the page shows. Typing replaces the address; a choice adds to the history. */
export type ChangeSearch = (change: Partial<TracesSearch>, how?: 'push' | 'replace') => void
