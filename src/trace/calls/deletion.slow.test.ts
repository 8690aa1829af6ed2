import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { replyOf, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'

const server = useTestServer()
const CHILDREN = 25_000
const AT_ONCE = 5_000

describe('POST /calls/delete of a large trace', () => {
  it('200 with all descendants deleted, however many there are', async () => {
    const project = server.newProject()
    const [root, other] = [finishedCall(), finishedCall()]
    await writeCalls(server, project, [root, other])
    for (let from = 0; from < CHILDREN; from += AT_ONCE) {
      const family = { trace_id: root['trace_id'], parent_id: root.id }
      const batch = Array.from({ length: AT_ONCE }, () => finishedCall({ ...family, id: newId() }))
      await writeCalls(server, project, batch)
    }
    const body = { project_id: project, call_ids: [root.id] }
    expect(await replyOf(await server.post('/calls/delete', body))).toEqual({ num_deleted: CHILDREN + 1 })
    const count = await server.post('/calls/query_stats', { project_id: project })
    expect(await replyOf(count)).toMatchObject({ count: 1 })
  })
})
