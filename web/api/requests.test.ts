import { QueryClient } from '@tanstack/react-query'
import { v7 as newId } from 'uuid'
import { beforeEach, expect, it, vi } from 'vitest'
import { recordCall } from './calls.ts'
import { askResults } from './evaluations.ts'
import { loadMedia, mediaOf } from './media.ts'
import { monitorsQuery } from './monitors.ts'
import { opCodeQuery, opVersionOf } from './op-code.ts'

/** What was asked, and the replies by path. */
const asked: { path: string; body: { [name: string]: unknown } }[] = []
const replies = new Map<string, unknown>()

beforeEach(() => {
  asked.length = 0
  replies.clear()
  vi.stubGlobal('fetch', async (path: string, { body }: { body?: string }) => {
    asked.push({ path, body: JSON.parse(body ?? '{}') })
    return Response.json(replies.get(path) ?? {})
  })
  // As in a page that came by plain HTTP, which also has nothing stored.
  vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array) => bytes.fill(7) })
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('sessionStorage', { getItem: () => null })
})

const { signal } = new AbortController()

it('names with characters that end a path are those of their project', async () => {
  const project = 'ada/my#50%?'
  const times = { started_at: '2026-01-01T00:00:00Z', ended_at: '2026-01-01T00:00:00Z' }
  await recordCall(project, {
    id: newId(),
    op_name: 'test',
    ...times,
    inputs: {},
    output: 1,
    attributes: {},
    summary: {},
  })
  await askResults(project, { evaluation_call_ids: [] }, signal)
  const path = '/v2/ada/my%2350%25%3F'
  replies.set(`${path}/monitors`, { monitors: [] })
  await new QueryClient().fetchQuery(monitorsQuery(project))
  expect(asked.map((one) => one.path)).toEqual([
    `${path}/calls/complete`,
    `${path}/eval_results/query`,
    `${path}/monitors`,
  ])
})

it('reads the code of an op from the project in its ref, also where its name has special characters', async () => {
  const op = opVersionOf('weave:///ada/shared/op/100%:v1')
  expect(op).toMatchObject({ entity: 'ada', project: 'shared', name: '100%', version: 'v1' })
  expect(opVersionOf('answer')).toBeUndefined()
  if (op === undefined) return
  replies.set('/obj/read', { obj: { val: { files: { 'obj.py': 'f1' } } } })
  await new QueryClient().fetchQuery(opCodeQuery(op))
  expect(asked).toEqual([
    { path: '/obj/read', body: { project_id: 'ada/shared', object_id: '100%', digest: 'v1' } },
    { path: '/file/content', body: { project_id: 'ada/shared', digest: 'f1' } },
  ])
})

it('media of a ref are read from the project that it names', async () => {
  const media = mediaOf({ type: 'image', url: 'weave:///ada/shared/object/picture:v1' })
  if (media === undefined) throw new Error('no media')
  replies.set('/obj/read', { obj: { val: { _type: 'CustomWeaveType', files: { 'image.png': 'f2' } } } })
  await loadMedia('local/open', media, { signal })
  expect(asked.map(({ body }) => body['project_id'])).toEqual(['ada/shared', 'ada/shared'])
})
