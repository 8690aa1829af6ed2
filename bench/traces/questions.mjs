/** What is asked of a server that speaks the trace API, once the calls are in. */
import { MODELS, opRef } from './workload.mjs'

const NEWEST_FIRST = [{ field: 'started_at', direction: 'desc' }]

/** So much of a prompt of random words is in no other call. */
const UNIQUE_LETTERS = 48

const literal = (value) => ({ $literal: value })
const field = (path) => ({ $getField: path })

/** The calls in a reply of one document a line. */
function lines(reply) {
  let count = 0
  for (let end = reply.indexOf('\n'); end !== -1; end = reply.indexOf('\n', end + 1)) count++
  return reply.length > 0 && reply.at(-1) !== 0x0a ? count + 1 : count
}

/**
 * The questions by name: what is sent, and how many calls have to come back or be counted, which `rows` says of a reply.
 * `asked` is one of the calls, and `calls` how many there are.
 */
export function questions(project, asked, calls) {
  const list = (expected, request) => ({
    path: '/calls/stream_query',
    body: { project_id: project, ...request },
    expected,
    rows: lines,
  })
  const newest = (expected, request) => list(expected, { limit: 50, sort_by: NEWEST_FIRST, ...request })
  const scoreAbove = { $gt: [{ $convert: { input: field('output.score'), to: 'double' } }, literal(0.99)] }
  const containsPrompt = {
    $contains: {
      input: field('inputs.messages'),
      substr: literal(asked.prompt.slice(0, UNIQUE_LETTERS)),
      case_insensitive: true,
    },
  }
  return {
    'newest 50': newest(50, {}),
    'page of 50 at 5000': newest(50, { offset: 5000 }),
    'newest 50 roots': newest(50, { filter: { trace_roots_only: true } }),
    'newest 50 of one op': newest(50, { filter: { op_names: [opRef(project, asked.op)] } }),
    'one trace': list(8, { filter: { trace_ids: [asked.trace] } }),
    'read by id': {
      path: '/call/read',
      body: { project_id: project, id: asked.id },
      expected: 1,
      rows: (reply) => (JSON.parse(reply).call?.id === asked.id ? 1 : 0),
    },
    'JSON filter': newest(50, { query: { $expr: scoreAbove } }),
    'text search': newest(1, { query: { $expr: containsPrompt } }),
    'sort by a payload field': list(50, {
      limit: 50,
      sort_by: [{ field: 'output.score', direction: 'desc' }],
    }),
    'count with a filter': {
      path: '/calls/query_stats',
      body: {
        project_id: project,
        query: { $expr: { $eq: [field('inputs.model'), literal('gpt-3')] } },
      },
      // Every fifth call, from number 3 on.
      expected: Math.floor((calls - 3 + MODELS - 1) / MODELS),
      rows: (reply) => JSON.parse(reply).count,
    },
    'export of 5000': list(5000, { limit: 5000 }),
  }
}
