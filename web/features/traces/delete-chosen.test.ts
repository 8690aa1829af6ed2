import { expect, it, vi } from 'vitest'
import { ALL_CHOSEN, choose } from './chosen.ts'
import { deleteChosen } from './delete-chosen.ts'

/** A server with these calls, which every question finds. @returns those that are left */
function serveCalls(count: number): Set<string> {
  const left = new Set(Array.from({ length: count }, (_, at) => `call-${at}`))
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('fetch', async (path: string, { body }: { body: string }) => {
    const { offset, limit, call_ids = [] } = JSON.parse(body)
    if (path === '/calls/delete') for (const id of call_ids) left.delete(id)
    const page = [...left].slice(offset, offset + limit)
    return new Response(page.map((id) => JSON.stringify({ id })).join('\n'))
  })
  return left
}

const list = { request: {}, signal: new AbortController().signal, onProgress: () => undefined }

it('deletes all that match but those taken out', async () => {
  const left = serveCalls(250)
  const chosen = choose(ALL_CHOSEN, ['call-3', 'call-240'], 'out')
  expect(await deleteChosen('a/b', { ...list, chosen, callsMax: 248 })).toBe(248)
  expect([...left]).toEqual(['call-3', 'call-240'])
})

it('deletes none of a portion that goes beyond what was agreed to', async () => {
  const left = serveCalls(50)
  const deleted = deleteChosen('a/b', { ...list, chosen: ALL_CHOSEN, callsMax: 12 })
  await expect(deleted).rejects.toThrow('More calls match')
  expect(left.size).toBe(50)
})
