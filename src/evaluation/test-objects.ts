import { stringify } from '../json/lossless-json.ts'
import { documentsOf, type Fields, replyOf, type TestServer } from '../testing.ts'

const BASES = ['Object', 'BaseModel']

/** Publishes objects of the classes that evaluations consist of, as the Python client does. */
export function publishing(server: TestServer) {
  async function publish(project_id: string, object_id: string, val: Fields): Promise<string> {
    const body = stringify({ obj: { project_id, object_id, val } })
    const { digest } = await replyOf(await server.request('/obj/create', { method: 'POST', body }))
    return `weave:///${project_id}/object/${object_id}:${digest}`
  }

  return {
    publish,

    async dataset(project_id: string, rows: readonly Fields[]): Promise<string> {
      const { digest } = await replyOf(await server.post('/table/create', { table: { project_id, rows } }))
      const table = `weave:///${project_id}/table/${digest}`
      return publish(project_id, 'rows', {
        _type: 'Dataset',
        rows: table,
        _class_name: 'Dataset',
        _bases: BASES,
      })
    },

    async op(project_id: string, name: string, source: string): Promise<string> {
      const form = new FormData()
      form.append('project_id', project_id)
      form.append('file', new File([source], 'obj.py'))
      const file = await replyOf(await server.request('/file/create', { method: 'POST', body: form }))
      const val = {
        _type: 'CustomWeaveType',
        weave_type: { type: 'Op' },
        files: { 'obj.py': file['digest'] },
      }
      return (await publish(project_id, name, val)).replace('/object/', '/op/')
    },

    model: (project_id: string, params: Fields = {}, fields: Fields = {}): Promise<string> =>
      publish(project_id, 'asked', {
        _type: 'LLMStructuredCompletionModel',
        name: 'asked',
        llm_model_id: 'fake/some-model',
        default_params: { response_format: 'text', ...params },
        _class_name: 'LLMStructuredCompletionModel',
        _bases: ['Model', ...BASES],
        ...fields,
      }),

    scorer: (project_id: string, className: string, fields: Fields = {}): Promise<string> =>
      publish(project_id, className, {
        _type: className,
        _class_name: className,
        _bases: ['Scorer', ...BASES],
        ...fields,
      }),

    evaluation: (project_id: string, dataset: string, scorers: readonly string[], fields: Fields = {}) =>
      publish(project_id, 'evaluation', {
        _type: 'Evaluation',
        dataset,
        scorers,
        trials: 1,
        preprocess_model_input: null,
        _class_name: 'Evaluation',
        _bases: BASES,
        ...fields,
      }),
  }
}

export async function callsIn(
  server: TestServer,
  project_id: string,
  filter: Fields = {},
): Promise<Fields[]> {
  return documentsOf<Fields>(await server.post('/calls/stream_query', { project_id, filter }))
}

export async function feedbackIn(server: TestServer, project_id: string): Promise<Fields[]> {
  return (await replyOf<{ result: Fields[] }>(await server.post('/feedback/query', { project_id }))).result
}
