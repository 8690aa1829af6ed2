import type { Thread as StoredThread, ThreadsQueryReq } from '../../src/trace/threads/wire.ts'
import { type Call, type Operand, type Operation, streamCalls } from './calls.ts'
import { askLines } from './client.ts'
import type { OnWire } from './wire.ts'

export type Thread = OnWire<StoredThread>

interface Page {
  limit: number
  offset: number
}

interface Options {
  signal: AbortSignal
}

/** Threads of a project, those with the newest turn first. */
export async function readThreads(project_id: string, page: Page, { signal }: Options): Promise<Thread[]> {
  const body: ThreadsQueryReq = {
    project_id,
    ...page,
    sort_by: [{ field: 'last_updated', direction: 'desc' }],
  }
  return await Array.fromAsync(askLines<Thread>('/threads/stream_query', { body, signal }))
}

/** One thread; null when there is none of this name. */
export async function readThread(
  project_id: string,
  id: string,
  { signal }: Options,
): Promise<Thread | null> {
  const body: ThreadsQueryReq = { project_id, filter: { thread_ids: [id] }, limit: 1 }
  for await (const thread of askLines<Thread>('/threads/stream_query', { body, signal })) return thread
  return null
}

/** Where a turn stands among those of its thread. */
export type TurnPlace = Pick<Call, 'started_at' | 'id'>

/** Turns of a thread, the newest first; those before one of them, where it is given. */
export async function readTurns(
  project: string,
  thread: string,
  { limit, before, signal }: { limit: number; before?: TurnPlace | undefined } & Options,
): Promise<Call[]> {
  const conditions = before === undefined ? [] : [startsBeside(before, '$lt')]
  return await askTurns(project, thread, { conditions, limit, signal })
}

/** Turns that are read at once after a time in which a thread was not looked at. */
export const LATER_TURNS_MAX = 200

/** Turns after one of them, the newest first, and those that ran when they were read. */
export async function readLaterTurns(
  project: string,
  thread: string,
  { after, running, signal }: { after: TurnPlace | undefined; running: readonly string[] } & Options,
): Promise<Call[]> {
  const isRunning: Operation = { $in: [{ $getField: 'id' }, running.map((id) => ({ $literal: id }))] }
  const wanted = after === undefined ? [] : [startsBeside(after, '$gt')]
  const conditions: Operation[] = running.length === 0 ? wanted : [{ $or: [...wanted, isRunning] }]
  return await askTurns(project, thread, { conditions, limit: LATER_TURNS_MAX, signal })
}

/** A turn is the call whose turn id is its own, as in the list of threads. */
const IS_TURN: Operation = { $eq: [{ $getField: 'turn_id' }, { $getField: 'id' }] }

async function askTurns(
  project: string,
  thread: string,
  { conditions, limit, signal }: { conditions: readonly Operation[]; limit: number } & Options,
): Promise<Call[]> {
  const request = {
    filter: { thread_ids: [thread] },
    query: { $expr: { $and: [IS_TURN, ...conditions] } },
    sort_by: [
      { field: 'started_at', direction: 'desc' as const },
      { field: 'id', direction: 'desc' as const },
    ],
    include_costs: true,
    limit,
  }
  return await Array.fromAsync(streamCalls(project, request, { signal }))
}

/** Calls that stand before or after a turn; those of one moment by their ids. */
function startsBeside({ started_at, id }: TurnPlace, side: '$lt' | '$gt'): Operation {
  const compare = (field: string, value: string): Operation => {
    const operands: [Operand, Operand] = [{ $getField: field }, { $literal: value }]
    return side === '$lt' ? { $lt: operands } : { $gt: operands }
  }
  const isSameMoment: Operation = { $eq: [{ $getField: 'started_at' }, { $literal: started_at }] }
  return { $or: [compare('started_at', started_at), { $and: [isSameMoment, compare('id', id)] }] }
}
