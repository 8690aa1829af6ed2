import { fieldOf, scenario } from '../scenario.ts'
import { finishedCall } from './call-parts.ts'
import { compare, expression, field, literal } from './expressions.ts'

const PRICES = {
  'model-a': { prompt_token_cost: 0.5, completion_token_cost: 0.125 },
  'model-b': {
    prompt_token_cost: 1,
    completion_token_cost: 2,
    cache_read_input_token_cost: 0.5,
    cache_creation_input_token_cost: 0.25,
    provider_id: 'own',
    effective_date: '2024-01-01T00:00:00Z',
    prompt_token_cost_unit: 'USD',
  },
}

/** Prices of a project, and what calls cost by them. */
export const costs = scenario('costs', (project, ask) => {
  const create = (title: string, prices: unknown) => ask(title, '/cost/create', { costs: prices })
  const byModel = [
    { field: 'llm_id', direction: 'asc' },
    { field: 'effective_date', direction: 'asc' },
  ]
  const query = (title: string, fields: object) => ask(title, '/cost/query', { sort_by: byModel, ...fields })
  const call = (name: string, started_at: string, usage: object) =>
    finishedCall(project, name, { started_at, summary: { usage } })
  const firstId = (title: string) => fieldOf(title, 'ids', (ids) => (ids as string[][])[0]?.[0]) // Pairs of an id and a model.
  const fields = ['llm_id', 'prompt_token_cost', 'completion_token_cost', 'provider_id', 'effective_date']
  return [
    query('no prices', {}),
    create('creates', PRICES),
    create('a later price', {
      'model-b': { ...PRICES['model-b'], prompt_token_cost: 10, effective_date: '2024-02-01T00:00:00Z' },
    }),
    create('creates none', {}),
    create('creates without a price', { x: {} }),
    create('creates with a price of text', { x: { prompt_token_cost: 'much', completion_token_cost: 1 } }),
    create('a price from a time that is none', {
      x: { prompt_token_cost: 1, completion_token_cost: 1, effective_date: 'soon' },
    }),
    create('creates a negative price', { 'model-c': { prompt_token_cost: -1, completion_token_cost: 0 } }),
    query('all prices', { fields }),
    query('all fields', {}),
    query('prices of one', { fields, query: compare('$eq', 'llm_id', 'model-a') }),
    query('prices of some', {
      fields,
      query: expression({ $in: [field('llm_id'), [literal('model-b'), literal('x')]] }),
    }),
    query('prices as clients ask', {
      fields,
      query: expression({
        $and: [{ $eq: [literal('1'), literal('1')] }, { $in: [field('llm_id'), [literal('model-a')]] }],
      }),
    }),
    query('a field of the level', { fields: ['llm_id', 'pricing_level'] }),
    query('one field', { fields: ['llm_id'] }),
    query('an unknown field', { fields: ['nope'] }),
    query('one price', { fields: ['llm_id'], limit: 1 }),
    query('one price further', { fields: ['llm_id'], limit: 1, offset: 1 }),
    query('prices backwards', { fields: ['llm_id'], sort_by: [{ field: 'llm_id', direction: 'desc' }] }),
    ask('calls', `/v2/${project}/calls/complete`, {
      batch: [
        call('a', '2024-01-15T00:00:00Z', {
          'model-a': { requests: 1, prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
          unpriced: { requests: 1, prompt_tokens: 1 },
        }),
        call('b', '2024-01-15T00:00:00Z', {
          'model-b': {
            requests: 2,
            input_tokens: 100,
            output_tokens: 50,
            cache_read_input_tokens: 20,
            cache_creation_input_tokens: 10,
          },
        }),
        call('later', '2024-03-01T00:00:00Z', { 'model-b': { prompt_tokens: 1, completion_tokens: 1 } }),
        call('early', '2023-01-01T00:00:00Z', { 'model-b': { prompt_tokens: 1 } }),
        call('default', '2024-08-01T00:00:00Z', {
          'gpt-4': { prompt_tokens: 1000, completion_tokens: 1000, requests: 1 },
        }),
        call('none', '2024-01-15T00:00:00Z', {}),
      ],
    }),
    ...['a', 'b', 'later', 'early', 'default', 'none'].map((name) =>
      ask(`cost of ${name}`, '/calls/stream_query', { filter: { op_names: [name] }, include_costs: true }),
    ),
    ask('cost of one call', '/call/read', { id: finishedCall(project, 'a').id, include_costs: true }),
    ask('costs of some columns', '/calls/stream_query', {
      filter: { op_names: ['b'] },
      include_costs: true,
      columns: ['summary'],
    }),
    ask('purges one', '/cost/purge', {
      query: expression({ $eq: [field('id'), literal(firstId('creates'))] }),
    }),
    query('prices after a purge', { fields: ['llm_id', 'prompt_token_cost'] }),
    ask('purges some', '/cost/purge', {
      query: expression({ $in: [field('id'), [literal(firstId('a later price')), literal('nope')]] }),
    }),
    query('prices after two purges', { fields: ['llm_id', 'prompt_token_cost'] }),
    ask('purges by model', '/cost/purge', { query: compare('$eq', 'llm_id', 'model-a') }),
    ask('purges all', '/cost/purge', {}),
  ]
})
