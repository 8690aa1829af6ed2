import { afterAll, expect } from 'vitest'
import { openFakeProvider } from '../../inference/playground/fake-provider.ts'
import { eventually } from '../../test-eventually.ts'
import { type Fields, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../../trace/test-calls.ts'
import { feedbackIn, publishing } from '../test-objects.ts'
import { ScoringTask } from './scoring-task.ts'

/** A server with a provider for judges, and helpers for tests of scoring. */
export async function useMonitoredProjects() {
  const provider = await openFakeProvider()
  afterAll(() => provider[Symbol.asyncDispose]())
  const server = useTestServer({
    providers: new Map([['fake', { baseUrl: provider.baseUrl, apiKey: undefined }]]),
  })
  const objects = publishing(server)
  return {
    provider,
    server,
    objects,

    async record(project: string, calls: readonly Fields[]): Promise<string[]> {
      const op_name = `weave:///${project}/op/answer:abc`
      const batch = calls.map((fields) => finishedCall({ op_name, ...fields }))
      await writeCalls(server, project, batch)
      return batch.map(({ id }) => id)
    },

    /** The feedback of a project, once it has this many entries. */
    said(project: string, count: number): Promise<Fields[]> {
      return eventually(async () => {
        const feedback = await feedbackIn(server, project)
        expect(feedback).toHaveLength(count)
        return feedback
      })
    },

    monitor: (project: string, scorers: readonly string[], fields: Fields = {}): Promise<string> =>
      objects.publish(project, 'watch', {
        _type: 'Monitor',
        active: true,
        scorers,
        op_names: [],
        sampling_rate: 1,
        query: null,
        _class_name: 'Monitor',
        _bases: ['Object', 'BaseModel'],
        ...fields,
      }),

    /** The calls of the tasks that wait. */
    async pendingIn(project: string): Promise<string[]> {
      const jobs = server.stores.control.selectFrom('jobs').select('payload').where('kind', '=', 'score_call')
      const waiting = await jobs.where('state', '=', 'waiting').execute()
      const tasks = waiting.map(({ payload }) => ScoringTask.parse(JSON.parse(payload)))
      return tasks.filter(({ project_id }) => project_id === project).map(({ call_id }) => call_id)
    },
  }
}
