import { fieldOf, type Later, type Request, scenario } from '../scenario.ts'

const NOBODY = '0192d5a0-0000-4000-8000-000000000000'

/** A path below a project that ends in an id which the server made. */
const below = (project: string, group: string, title: string, field: string, rest = '') =>
  ((said) => `/v2/${project}/${group}/${String(said(title)[field])}${rest}`) satisfies Request['path']

/** Runs, predictions and scores that are logged step by step. */
export const evaluationRuns = scenario('evaluation runs', (project, ask) => {
  const v2 = `/v2/${project}`
  const ref = (name: string) => `weave:///${project}/object/${name}:abc`
  const run = fieldOf('creates a run', 'evaluation_run_id')
  const prediction = fieldOf('predicts in the run', 'prediction_id')
  const get = (title: string, path: Request['path']): Request => ({ title, method: 'GET', path })
  const remove = (title: string, path: Request['path']): Request => ({ title, method: 'DELETE', path })
  const readRun = (title: string) =>
    get(title, below(project, 'evaluation_runs', 'creates a run', 'evaluation_run_id'))
  const post = (title: string, group: string, body: object): Request => ({
    title,
    method: 'POST',
    path: `${v2}/${group}`,
    body,
  })
  const calls = (title: string, call_ids: readonly Later[]) =>
    ask(title, '/calls/stream_query', {
      filter: { call_ids },
      columns: ['inputs', 'output', 'trace_id', 'parent_id', 'ended_at'],
    })
  const score = (title: string, fields: object) =>
    post(title, 'scores', { prediction_id: prediction, scorer: ref('exact'), value: 0.5, ...fields })
  const results = (title: string, fields: object) =>
    post(title, 'eval_results/query', { evaluation_run_ids: [run], ...fields })
  return [
    ...['evaluation_runs', 'predictions', 'scores'].flatMap((group) => [
      get(`lists no ${group}`, `${v2}/${group}`),
      get(`reads an unknown one of ${group}`, `${v2}/${group}/${NOBODY}`),
      post(`creates nothing in ${group}`, group, {}),
    ]),
    post('creates a run', 'evaluation_runs', { evaluation: ref('evaluation'), model: ref('small') }),
    post('creates another run', 'evaluation_runs', { evaluation: ref('other'), model: ref('small') }),
    post('creates a run of a number', 'evaluation_runs', { evaluation: 1, model: ref('small') }),
    readRun('reads the run'),
    get('lists runs', `${v2}/evaluation_runs`),
    get('lists a page of runs', `${v2}/evaluation_runs?limit=1&offset=1`),
    calls('reads the call of the run', [run]),
    post('predicts in the run', 'predictions', {
      model: ref('small'),
      inputs: { n: 1 },
      output: 2.5,
      evaluation_run_id: run,
    }),
    post('predicts again in the run', 'predictions', {
      model: ref('small'),
      inputs: { n: 2 },
      output: 4.5,
      evaluation_run_id: run,
    }),
    post('predicts alone', 'predictions', { model: 'by hand', inputs: {}, output: { deep: [1, null] } }),
    post('predicts in an unknown run', 'predictions', {
      model: ref('small'),
      inputs: {},
      output: 1,
      evaluation_run_id: NOBODY,
    }),
    get('reads the prediction', below(project, 'predictions', 'predicts in the run', 'prediction_id')),
    get('reads the prediction alone', below(project, 'predictions', 'predicts alone', 'prediction_id')),
    get('lists predictions', `${v2}/predictions`),
    get('lists a page of predictions', `${v2}/predictions?limit=1&offset=2`),
    get('lists predictions of the run', (said) => {
      return `${v2}/predictions?evaluation_run_id=${String(said('creates a run')['evaluation_run_id'])}`
    }),
    score('scores in the run', { evaluation_run_id: run }),
    score('scores alone', { value: 1 }),
    score('scores an unknown prediction', { prediction_id: NOBODY }),
    score('scores by nothing', { scorer: 'exact' }),
    score('scores with a word', { value: 'high' }),
    score('scores with true', { value: true }),
    score('scores with a number as text', { value: ' 0.25 ' }),
    get('reads the score', below(project, 'scores', 'scores in the run', 'score_id')),
    get('lists scores', `${v2}/scores`),
    calls('reads the call of the score', [fieldOf('scores in the run', 'score_id')]),
    ask('reads the feedback', '/feedback/query', { fields: ['feedback_type', 'payload', 'runnable_ref'] }),
    post('unfinished results', 'eval_results/query', { evaluation_run_ids: [run] }),
    ask(
      'finishes the prediction',
      below(project, 'predictions', 'predicts in the run', 'prediction_id', '/finish'),
      {},
    ),
    ask(
      'finishes the other',
      below(project, 'predictions', 'predicts again in the run', 'prediction_id', '/finish'),
      {},
    ),
    get(
      'reads the finished prediction',
      below(project, 'predictions', 'predicts in the run', 'prediction_id'),
    ),
    ask(
      'finishes the run',
      below(project, 'evaluation_runs', 'creates a run', 'evaluation_run_id', '/finish'),
      {
        summary: { note: 'done' },
      },
    ),
    readRun('reads the finished run'),
    calls('reads the call of the finished run', [run]),
    results('results', {}),
    results('results with a summary', { include_summary: true, include_raw_data_rows: true }),
    results('a page of results', { limit: 1, offset: 1 }),
    results('results of no children', { include_predict_and_score_children: false }),
    results('only a summary', { include_rows: false, include_summary: true }),
    results('results of both names', { evaluation_call_ids: [run] }),
    results('results that all have', { evaluation_call_ids: [NOBODY], require_intersection: true }),
    post('results of nothing', 'eval_results/query', {}),
    post('results of no run', 'eval_results/query', { evaluation_run_ids: [] }),
    post('results of an unknown run', 'eval_results/query', {
      evaluation_run_ids: [NOBODY],
      include_summary: true,
    }),
    remove('deletes an unknown score', `${v2}/scores?score_ids=${NOBODY}`),
    remove('deletes the score', (said) => {
      return `${v2}/scores?score_ids=${String(said('scores alone')['score_id'])}`
    }),
    get('reads the deleted score', below(project, 'scores', 'scores alone', 'score_id')),
    ask('reads the feedback that is left', '/feedback/query', { fields: ['feedback_type', 'payload'] }),
    remove('deletes the prediction', (said) => {
      return `${v2}/predictions?prediction_ids=${String(said('predicts alone')['prediction_id'])}`
    }),
    remove('deletes the run', (said) => {
      return `${v2}/evaluation_runs?evaluation_run_ids=${String(said('creates a run')['evaluation_run_id'])}`
    }),
    readRun('reads the deleted run'),
    remove('deletes no run', `${v2}/evaluation_runs`),
    get('lists the predictions that are left', `${v2}/predictions`),
  ]
})
