import type { Thread as StoredThread, ThreadsQueryReq } from '../../src/trace/threads/wire.ts'
import { type Call, streamCalls } from './calls.ts'
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

/** Wire: spans name their thread one by one, so a turn of OpenTelemetry may lie within another; those are left out. */
export async function readTurns(
  project: string,
  thread: string,
  { limit, offset, signal }: Page & Options,
): Promise<Call[]> {
  const request = {
    filter: { thread_ids: [thread], trace_roots_only: true },
    sort_by: [{ field: 'started_at', direction: 'desc' as const }],
    include_costs: true,
    limit,
    offset,
  }
  return await Array.fromAsync(streamCalls(project, request, { signal }))
}
