import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Query, TraceDb } from '../../stores/trace-db/port.ts'
import { collectReply } from '../collect-reply.ts'
import { dateTimeAt } from '../date-time.ts'
import { pageOf } from '../query-language/page.ts'
import * as queries from './queries.ts'
import * as wire from './wire.ts'

/** About the characters of a thread in a reply. */
const THREAD_CHARS = 300

/** Wire: fields that threads can be sorted by; others are refused. */
const SORT_FIELDS = wire.Thread.keyof().exclude(['first_turn_id', 'last_turn_id'])

/** Threads: conversations, each made of the turns that name it. */
export interface Threads {
  /** @throws 400 and 422 for invalid requests */
  streamQuery(req: wire.ThreadsQueryReq, context: CallContext): Promise<AsyncGenerator<wire.Thread>>
}

export function createThreads({ traces }: { traces: TraceDb }): Threads {
  return {
    async streamQuery(req, { signal }) {
      const selection = {
        project_id: req.project_id,
        thread_ids: req.filter?.thread_ids ?? [],
        after: dateTime('after_datetime', req),
        before: dateTime('before_datetime', req),
      }
      const page = { order: orderOf(req), ...pageOf(req) }
      return listed(traces, queries.selectThreads(selection, page), signal)
    },
  }
}

/** The query has ended before the first thread is sent: no query may stay open while a client reads. */
async function* listed(traces: TraceDb, query: Query, signal: AbortSignal): AsyncGenerator<wire.Thread> {
  yield* await collectReply(traces.query<wire.Thread>(query, signal), () => THREAD_CHARS)
}

function orderOf({ sort_by }: wire.ThreadsQueryReq): string[] {
  const asked = (sort_by ?? []).map(({ field, direction }) => {
    const column = SORT_FIELDS.safeParse(field).data
    if (column === undefined) throw invalidRequest(`Threads cannot be sorted by ${field.slice(0, 100)}`)
    return `${column} ${direction}`
  })
  return [...(asked.length === 0 ? ['last_updated desc'] : asked), 'thread_id asc']
}

function dateTime(
  name: 'after_datetime' | 'before_datetime',
  { filter }: wire.ThreadsQueryReq,
): string | undefined {
  const text = filter?.[name]
  return text == null ? undefined : dateTimeAt(['filter', name], text)
}
