import { describe, expect, it } from 'vitest'
import type { InferenceProcess } from '../../stores/compute/port.ts'
import { createDispatch, type DispatchDeps } from './dispatch.ts'

const MESSAGES = { messages: [{ role: 'user', content: 'hi' }] }

/** How a request ends to which the engine answers with an error. */
async function refusalFor(fields: object, status: number, message: string): Promise<unknown> {
  const process: InferenceProcess = {
    pathOf: (name) => name,
    post: async () => ({
      status,
      read: async (onChunk) => onChunk(Buffer.from(JSON.stringify({ error: { message } }))),
    }),
  }
  const baseModels = { inference: () => ({ ready: async () => process }) }
  const dispatch = createDispatch({ baseModels, loaded: {} } as unknown as DispatchDeps)
  const body = () => ({ ...MESSAGES, ...fields })
  const target = { baseModel: 'base', trained: undefined, cacheOwner: 'e/p' }
  const signal = new AbortController().signal
  return dispatch({ path: '/v1/chat/completions', body }, target as never, signal).catch(
    (error: unknown) => error,
  )
}

describe('an error of the engine', () => {
  const schema = { response_format: { type: 'json_object' } }
  const choice = { structured_outputs: { choice: ['a'] } }
  const dead = 'EngineCore encountered an issue. See stack trace (above) for the root cause.'

  it.each([
    ['500 on a schema', schema, 500, 'Internal server error'],
    ['500 on another constraint', choice, 500, 'Internal server error'],
    ['500 on half a surrogate pair', { user: '\ud800' }, 500, 'Internal server error'],
  ])('%s is the fault of the request: 400', async (_, fields, status, message) => {
    expect(await refusalFor(fields, status, message)).toMatchObject({ status: 400 })
  })

  it.each([
    ['503 of a full queue, with a schema', schema, 503, 'The request queue is full'],
    ['502 of a proxy, with another constraint', choice, 502, 'Bad gateway'],
    ['500 of an engine whose core has ended', schema, 500, dead],
    ['500 for a format that constrains nothing', { response_format: { type: 'text' } }, 500, 'Failed'],
    ['503, with half a surrogate pair', { user: '\ud800' }, 503, 'The request queue is full'],
  ])('%s is not: 503, which clients try again', async (_, fields, status, message) => {
    expect(await refusalFor(fields, status, message)).toMatchObject({ status: 503 })
  })
})
