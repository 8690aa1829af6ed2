import type { WantedDifference } from './wanted-differences.ts'

const EVERY = ['evaluation runs: *']
const EVERY_LIST = ['evaluation lists: *']
const CALLS = ['evaluation runs: reads the call of *']
const NEWER = 'Newer clients read the field, which came after the compared version.'
const TIMES = 'How long the requests took is each server’s own.'
const UNKNOWN = 'A prediction that is not there cannot be scored; the reference keeps a score of nothing.'

/** Runs, predictions and scores that are logged step by step, and their results. */
export const WANTED_IN_EVALUATION_RUNS: readonly WantedDifference[] = [
  ...[
    'source_evaluation_run_id',
    'genai_span_ref',
    'total_cost',
    'predict_total_cost',
    'predict_total_tokens',
  ].map((name) => ({ at: EVERY, place: `*.${name}`, why: NEWER })),
  { at: EVERY_LIST, place: '*.source_evaluation_run_id', why: NEWER },
  {
    at: CALLS,
    place: '*.op_name',
    why: 'The op says in words of Heddle’s own that it has no source, so it has a digest of its own.',
  },
  {
    at: CALLS,
    place: '*.wb_user_id',
    values: [null, 'local'],
    why: 'Who logs a call is its author, on whatever way; the reference forgets it here.',
  },
  { at: ['evaluation runs: reads *'], place: '*.latency_ms', why: TIMES },
  { at: ['evaluation runs: *results*'], place: '*.model_latency_seconds', why: TIMES },
  {
    at: ['evaluation runs: reads the finished prediction'],
    place: 'body.output',
    values: [null, 2.5],
    why: 'To finish a prediction leaves its output as it is; the reference forgets it in one of five runs.',
    byChance: true,
  },
  {
    at: ['evaluation runs: scores an unknown prediction'],
    place: 'status',
    values: [200, 404],
    why: UNKNOWN,
  },
  { at: ['evaluation runs: lists scores'], place: 'body', why: UNKNOWN },
  { at: ['evaluation runs: reads the feedback'], place: 'body.result', why: UNKNOWN },
  {
    at: ['evaluation runs: reads the feedback that is left'],
    place: 'body.result',
    why: 'A score that is deleted takes with it the feedback that it is; the reference leaves that behind.',
  },
  {
    at: ['evaluation runs: deletes an unknown score'],
    place: 'body.num_deleted',
    values: [1, 0],
    why: 'What is not there is not deleted, so it does not count.',
  },
]
