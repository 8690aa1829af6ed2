/** The queries that are timed on a server with the trace API, after the import. */
import { z } from 'zod'
import { jsonOf } from './target.ts'
import { MODELS, opRef, type WorkCall } from './workload.ts'

/** What is sent, and how many calls have to come back or be counted, which `rows` says of a reply. */
export interface Question {
  path: string
  body: object
  expected: number
  rows: (reply: Buffer) => number
}

const NEWEST_FIRST = [{ field: 'started_at', direction: 'desc' }]

/** So much of a prompt of random words is in no other call. */
const UNIQUE_LETTERS = 48

const PAGE = 50
const EXPORT = 5000

const literal = (value: unknown): object => ({ $literal: value })
const field = (path: string): object => ({ $getField: path })

/** The calls in a reply of one document a line. */
function lines(reply: Buffer): number {
  let count = 0
  for (let end = reply.indexOf('\n'); end !== -1; end = reply.indexOf('\n', end + 1)) count++
  return reply.length > 0 && reply.at(-1) !== 0x0a ? count + 1 : count
}

/**
 * The same question about the calls that started from a moment to before another one. How many there are is not known
 * (NaN), unless it looks for the one call in the middle.
 */
export function within({ path, body, expected, rows }: Question, fromMs: number, toMs: number): Question {
  const { query, ...rest } = z.looseObject({ query: z.object({ $expr: z.unknown() }) }).parse(body)
  const after = { $gte: [field('started_at'), literal(fromMs / 1000)] }
  const before = { $not: [{ $gte: [field('started_at'), literal(toMs / 1000)] }] }
  return {
    path,
    body: { ...rest, query: { $expr: { $and: [after, before, query.$expr] } } },
    expected: expected === 1 ? 1 : Number.NaN,
    rows,
  }
}

const ReadReply = z.object({ call: z.object({ id: z.string() }).nullish() })
const CountReply = z.object({ count: z.number() })

/**
 * The questions by name. `asked` is one of the calls, and `calls` how many there are. Each `number` from 0 on makes
 * other questions.
 */
export function questions(
  project: string,
  asked: WorkCall,
  calls: number,
  number: number,
): Record<string, Question> {
  const list = (expected: number, request: object): Question => ({
    path: '/calls/stream_query',
    body: { project_id: project, ...request },
    expected,
    rows: lines,
  })
  const page = { limit: PAGE, offset: PAGE * number }
  const newest = (expected: number, request: object): Question =>
    list(expected, { limit: PAGE, sort_by: NEWEST_FIRST, ...request })
  const scoreAbove = {
    $gt: [{ $convert: { input: field('output.score'), to: 'double' } }, literal(0.99 - number / 1000)],
  }
  const containsPrompt = {
    $contains: {
      input: field('inputs.messages'),
      substr: literal(asked.prompt.slice(0, UNIQUE_LETTERS)),
      case_insensitive: true,
    },
  }
  const model = (3 + number) % MODELS
  return {
    'newest 50': newest(PAGE, page),
    'page of 50 at 5000': newest(PAGE, { offset: 5000 + PAGE * number }),
    'newest 50 roots': newest(PAGE, { ...page, filter: { trace_roots_only: true } }),
    'newest 50 of one op': newest(PAGE, { filter: { op_names: [opRef(project, asked.op)] } }),
    'read by id': {
      path: '/call/read',
      body: { project_id: project, id: asked.id },
      expected: 1,
      rows: (reply) => (ReadReply.parse(jsonOf(reply)).call?.id === asked.id ? 1 : 0),
    },
    'one trace': list(8, { filter: { trace_ids: [asked.trace] } }),
    'JSON filter': newest(PAGE, { query: { $expr: scoreAbove } }),
    'JSON filter for one call': newest(1, {
      query: {
        $expr: { $eq: [{ $convert: { input: field('inputs.k'), to: 'int' } }, literal(asked.number)] },
      },
    }),
    'text search': newest(1, { query: { $expr: containsPrompt } }),
    'sort by a payload field': list(PAGE, {
      ...page,
      sort_by: [{ field: 'output.score', direction: 'desc' }],
    }),
    'count with a filter': {
      path: '/calls/query_stats',
      body: {
        project_id: project,
        query: { $expr: { $eq: [field('inputs.model'), literal(`gpt-${model}`)] } },
      },
      // Every fifth call, from the first with this model on.
      expected: Math.floor((calls - model + MODELS - 1) / MODELS),
      rows: (reply) => CountReply.parse(jsonOf(reply)).count,
    },
    // Exports overlap where there are too few calls, because the time of a single one is too inexact to be compared.
    'export of 5000': list(EXPORT, { limit: EXPORT, offset: (EXPORT * number) % (calls - EXPORT + 1) }),
  }
}
