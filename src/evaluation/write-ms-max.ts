/**
 * A write that has been in progress for longer belongs to a server that has ended: a request is answered, and its
 * writes are committed or abandoned, well before. A request to the trace database alone may take two minutes, after it
 * has waited for those before it.
 */
export const WRITE_MS_MAX = 600_000
