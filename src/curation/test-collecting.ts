import { type Fields, replyOf, type TestServer } from '../testing.ts'
import { finishedCall, writeCalls } from '../trace/test-calls.ts'
import type { CollectRes } from './wire.ts'

/** One sampled token, as completions with log-probabilities have it. */
const TOKEN = { token: 'token_id:13', bytes: [104], logprob: -0.5, top_logprobs: [] }

/** A call of OpenAI's chat API that asked `question`; calls start one after the other. */
export function chatCall(question: string, answer: string, fields: Fields = {}): Fields & { id: string } {
  return finishedCall({
    op_name: 'chat.completions.create',
    inputs: { model: 'small', messages: [{ role: 'user', content: question }] },
    output: {
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: answer, refusal: null, tool_calls: null },
          logprobs: { content: [TOKEN], refusal: null },
        },
      ],
    },
    ...fields,
  })
}

/** Helpers for tests of collecting. */
export function useCollecting(server: TestServer) {
  function post(project: string, body: Fields): Promise<Response> {
    return server.post(`/v2/${project}/collect`, body)
  }

  async function collect(project: string, body: Fields): Promise<CollectRes> {
    return replyOf<CollectRes>(await post(project, body))
  }

  return {
    post,
    collect,

    async say(
      project_id: string,
      call: { id: string },
      feedback_type: string,
      payload: Fields,
    ): Promise<void> {
      const weave_ref = `weave:///${project_id}/call/${call.id}`
      await replyOf(await server.post('/feedback/create', { project_id, weave_ref, feedback_type, payload }))
    },

    /** Calls that started in the order given. */
    async write(project: string, calls: readonly Fields[]): Promise<void> {
      const startOf = (index: number) => new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString()
      const batch = calls.map((call, index) => ({
        ...call,
        started_at: startOf(index),
        ended_at: call['ended_at'] ?? null,
      }))
      await writeCalls(
        server,
        project,
        batch.map((call) => (call.ended_at === null ? call : { ...call, ended_at: '2026-01-02T00:00:00Z' })),
      )
    },

    /** The rows of a version of a dataset, in order. */
    async rowsOf(project_id: string, ref: string): Promise<Fields[]> {
      const [, object_id = '', digest = ''] = /\/object\/([^:]+):(.+)$/.exec(ref) ?? []
      const { obj } = await replyOf<{ obj: { val: { rows: string } } }>(
        await server.post('/obj/read', { project_id, object_id, digest }),
      )
      const table = obj.val.rows.split('/').at(-1)
      const { rows } = await replyOf<{ rows: { val: Fields }[] }>(
        await server.post('/table/query', { project_id, digest: table }),
      )
      return rows.map(({ val }) => val)
    },

    /** Whether a project has any version of any object, or none. */
    async objectsIn(project_id: string): Promise<number> {
      return (await replyOf<{ objs: unknown[] }>(await server.post('/objs/query', { project_id }))).objs
        .length
    },
  }
}

export const refOf = (project: string, { id }: { id: string }): string => `weave:///${project}/call/${id}`
