/** Lists of calls as routes make them, for tests of what answers them. */
import { ALL_RIGHTS } from '../../../access.ts'
import { newId } from '../../../ids.ts'
import type { TraceDb } from '../../../stores/trace-db/port.ts'
import type { CallsStreamQueryReq } from '../messages/list-wire.ts'
import { createListReader, type KnownLists, type ListReader } from './execute.ts'
import { checkedPage, type List } from './list.ts'
import { createTableSize } from './table-size.ts'

/** Knows no calls, so that the database is asked for all. */
export const FROM_DATABASE: KnownLists = {
  lines: () => undefined,
  line: () => undefined,
  hasMost: () => false,
}

export function readerOf(traces: TraceDb, recent = FROM_DATABASE): ListReader {
  return createListReader({ traces, recent, tableSize: createTableSize({ traces }) })
}

export function listOf(project_id: string, fields: Partial<CallsStreamQueryReq> = {}): List {
  const req = { project_id, ...fields }
  const signal = new AbortController().signal
  const caller = { user: 'me', defaultEntity: 'me', keyId: 'k', rights: ALL_RIGHTS }
  const context = { caller, signal, requestId: newId(), header: () => undefined }
  return { req, selection: req, page: checkedPage(req), context }
}
