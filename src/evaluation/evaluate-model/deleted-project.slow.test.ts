import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openFakeProvider } from '../../inference/playground/fake-provider.ts'
import { replyOf, useTestServer } from '../../testing.ts'
import { CALL_ROWS } from '../../trace/calls/sql/table.ts'
import { publishing } from '../test-objects.ts'

const provider = await openFakeProvider()
afterAll(() => provider[Symbol.asyncDispose]())

const server = useTestServer({
  providers: new Map([['fake', { baseUrl: provider.baseUrl, apiKey: undefined }]]),
})
const objects = publishing(server)

/** A busy machine takes longer than vitest's default of a second. */
const WAIT_MAX = { timeout: 60_000 }

describe('DELETE /v2/{entity}/{project}', () => {
  it('200 ends an evaluation in the project, whose failure is not written to what is being deleted', async () => {
    const project = server.newProject()
    const rows = Array.from({ length: 40 }, (_, n) => ({ user_input: `say ${n}` }))
    const evaluation = await objects.evaluation(project, await objects.dataset(project, rows), [])
    const model = await objects.model(project)
    const { control, traces } = server.stores
    const [writing, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const ended = Promise.withResolvers<void>()
    onTestFinished(() => ended.resolve())
    const [insert, command] = [traces.insert.bind(traces), traces.command.bind(traces)]
    using _rows = vi.spyOn(traces, 'insert').mockImplementation(async (table, inserted) => {
      // The calls of a row come together.
      if (table === CALL_ROWS && inserted.length > 1) {
        writing.resolve()
        await closed.promise
      }
      return insert(table, inserted)
    })
    using _erasure = vi.spyOn(traces, 'command').mockImplementation(async (...args) => {
      await ended.promise
      return command(...args)
    })
    const request = { project_id: project, evaluation_ref: evaluation, model_ref: model }
    const { call_id } = await replyOf(await server.post('/evaluations/evaluate_model', request))
    await writing.promise
    expect((await server.request(`/v2/${project}`, { method: 'DELETE' })).status).toBe(200)
    closed.resolve()
    const job = control.selectFrom('jobs').select(['state', 'last_error']).where('id', '=', String(call_id))
    await vi.waitFor(
      async () =>
        expect(await job.execute()).toEqual([{ state: 'failed', last_error: `${project} is being deleted` }]),
      WAIT_MAX,
    )
  })
})
