import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'

const server = useTestServer()

async function publish(
  builtin_object_class: string,
  val: string,
): Promise<{ status: number; reason?: string; obj?: Record<string, unknown>; text: string }> {
  const project_id = server.newProject()
  const body = `{"obj":{"project_id":"${project_id}","object_id":"o","builtin_object_class":"${builtin_object_class}","val":${val}}}`
  const created = await server.request('/obj/create', { method: 'POST', body })
  const reply = (await created.json()) as { digest: string; reason?: string }
  if (created.status !== 200) return { status: created.status, reason: reply.reason ?? '', text: '' }
  const read = await server.post('/obj/read', { project_id, object_id: 'o', digest: reply.digest })
  const text = await read.text()
  return { status: 200, obj: (JSON.parse(text) as { obj: Record<string, unknown> }).obj, text }
}

const BASES = { _bases: ['BaseObject', 'BaseModel'] }
const NAMED = { name: null, description: null }

/** Values, and what the hosted service stores for each. */
const INSTANCES: [string, string, object][] = [
  [
    'Leaderboard',
    '{"name":"l","columns":[{"evaluation_object_ref":"r","scorer_name":"s","summary_metric_path":"a.b"}],"extra":1}',
    {
      name: 'l',
      description: null,
      columns: [
        {
          _type: 'LeaderboardColumn',
          evaluation_object_ref: 'r',
          scorer_name: 's',
          summary_metric_path: 'a.b',
          should_minimize: null,
          _class_name: 'LeaderboardColumn',
          _bases: ['BaseModel'],
        },
      ],
      ...BASES,
    },
  ],
  [
    'AnnotationSpec',
    '{}',
    { ...NAMED, field_schema: {}, unique_among_creators: false, op_scope: null, ...BASES },
  ],
  [
    'Provider',
    '{"base_url":"http://127.0.0.1:8000/v1","api_key_name":"k"}',
    {
      ...NAMED,
      base_url: 'http://127.0.0.1:8000/v1',
      api_key_name: 'k',
      extra_headers: {},
      return_type: 'openai',
      ...BASES,
    },
  ],
  [
    'LLMStructuredCompletionModel',
    '{"llm_model_id":"x/y","default_params":{"messages_template":[{"role":"user","content":"hi"}]}}',
    {
      ref: null,
      llm_model_id: 'x/y',
      default_params: {
        messages_template: [{ role: 'user', content: 'hi', _class_name: 'Message' }],
        stop: null,
      },
      _bases: ['Model', 'Object', 'BaseModel'],
    },
  ],
  [
    'ComparisonView',
    '{"label":"x","definition":{"evaluation_call_ids":["a"]}}',
    { definition: { _type: 'ComparisonViewDefinition', evaluation_call_ids: ['a'], selected_metrics: null } },
  ],
  [
    'ActionSpec',
    '{"config":{"action_type":"contains_words","target_words":["a"]}}',
    { config: { _class_name: 'ContainsWordsActionConfig', target_words: ['a'] }, ...BASES },
  ],
  [
    'AgentDashboard',
    '{"label":"d","definition":{"panels":[{"id":"p","layout":{"x":0,"y":0,"w":24,"h":2},"panel_type":"breakdown","settings":{"query":{"metric":"m","groupBy":"g"}}}]}}',
    {
      definition: {
        panels: [
          {
            panel_type: 'breakdown',
            settings: {
              query: { version: 1, metric: 'm', filter: '', format: null, groupBy: 'g', limit: 6 },
            },
            _bases: ['DashboardPanelBase', 'DashboardConfigModel', 'BaseModel'],
          },
        ],
      },
      ...BASES,
    },
  ],
]

describe('POST /obj/create with builtin_object_class', () => {
  it.each(INSTANCES)('200 and the value becomes an instance: %s', async (name, val, expected) => {
    const { status, obj } = await publish(name, val)
    expect(status).toBe(200)
    expect(obj?.['val']).toMatchObject({ _type: name, _class_name: name, ...expected })
    expect(obj).toMatchObject({ leaf_object_class: name })
    expect(obj?.['base_object_class']).toBe(name === 'LLMStructuredCompletionModel' ? 'Model' : name)
  })

  it('200 and numbers are integers or floats as their class says, and free values as they came', async () => {
    const { text } = await publish('AlertSpec', '{"spec":{"threshold":1,"window_size":3.0}}')
    expect(text).toContain('"threshold":1.0')
    expect(text).toContain('"window_size":3,')
    const spec = await publish(
      'AnnotationSpec',
      '{"field_schema":{"type":"integer","minimum":1.0,"toJSON":2e1}}',
    )
    expect(spec.text).toContain('"field_schema":{"type":"integer","minimum":1.0,"toJSON":2e1}')
  })

  it('400 for a saved query of too many parts, before each is tried as every operation', async () => {
    const wrong = { $eq: [{ $getField: 5 }, { $literal: 1 }] }
    const $expr = { $and: Array.from({ length: 20_000 }, () => wrong) }
    const val = { view_type: 'traces', label: 'x', definition: { query: { $expr } } }
    const obj = { project_id: server.newProject(), object_id: 'many', builtin_object_class: 'SavedView', val }
    const response = await server.post('/obj/create', { obj })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('8000 parts')])
  })

  it('200 for a saved query with a long list', async () => {
    const list = Array.from({ length: 20_000 }, (_, index) => `{"$literal":"${index}"}`).join()
    const query = `{"$expr":{"$in":[{"$getField":"id"},[${list}]]}}`
    const val = `{"view_type":"traces","label":"x","definition":{"query":${query}}}`
    expect((await publish('SavedView', val)).status).toBe(200)
  })

  it('200 and every operation of a saved query is of its class', async () => {
    const query = `{"$expr":{"$and":[{"$eq":[{"$getField":"a.b"},{"$literal":1}]},{"$contains":{"input":{"$getField":"x"},"substr":{"$literal":"s"}}},{"$in":[{"$convert":{"input":{"$getField":"y"},"to":"int"}},[{"$literal":1.5},{"$literal":null},{"$literal":{"k":{"$literal":true}}}]]}]}}`
    const { obj } = await publish(
      'SavedView',
      `{"view_type":"traces","label":"x","definition":{"filter":{"op_names":["a"]},"query":${query},"columns":[{"path":["a",1]}],"sort_by":[{"field":"a","direction":"asc"}]}}`,
    )
    expect(obj?.['val']).toMatchObject({
      definition: {
        _type: 'SavedViewDefinition',
        filter: { op_names: ['a'], input_refs: null, _bases: ['BaseModelStrict', 'BaseModel'] },
        query: {
          _type: 'Query',
          $expr: {
            _class_name: 'AndOperation',
            $and: [
              {
                _type: 'EqOperation',
                $eq: [{ $getField: 'a.b', _class_name: 'GetFieldOperator' }, { $literal: 1 }],
              },
              { $contains: { _type: 'ContainsSpec', case_insensitive: false } },
              {
                $in: [
                  { $convert: { _class_name: 'ConvertSpec', to: 'int' } },
                  [{ $literal: 1.5 }, { $literal: null }, { $literal: { k: { $literal: true } } }],
                ],
              },
            ],
          },
        },
        columns: [{ _type: 'Column', path: ['a', 1], label: null }],
        sort_by: [{ _bases: ['BaseModelStrict', 'BaseModel'] }],
        charts: null,
      },
    })
  })

  it.each([
    ['a field that is missing', 'Leaderboard', '{"name":"l"}', /columns/],
    ['a type that no schema has', 'AnnotationSpec', '{"field_schema":{"type":"nonsense"}}', /field_schema/],
    ['a number that is no integer', 'ProviderModel', '{"provider":"a","max_tokens":5.5}', /max_tokens/],
    ['an invalid address', 'Provider', '{"base_url":"ftp://x","api_key_name":"k"}', /base_url/],
    ['a field that a closed class lacks', 'LLMStructuredCompletionModel', '{"llm_model_id":"a","x":1}', /x/],
    [
      'a panel beyond the grid',
      'AgentDashboard',
      '{"label":"d","definition":{"panels":[{"id":"p","layout":{"x":20,"y":0,"w":5,"h":2},"panel_type":"kpi","settings":{"query":{"metric":"m"}}}]}}',
      /definition/,
    ],
    ['a class that is only a part of others', 'ChartConfig', '{"x_axis":"a","y_axis":"b"}', /ChartConfig/],
  ])('400 for %s', async (_name, builtin, val, reason) => {
    expect(await publish(builtin, val)).toMatchObject({ status: 400, reason: expect.stringMatching(reason) })
  })
})
