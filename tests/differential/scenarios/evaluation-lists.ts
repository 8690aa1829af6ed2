import { fieldOf, type Request, type Said, scenario } from '../scenario.ts'

const NOBODY = '0192d5a0-0000-4000-8000-000000000000'

/** What a list is asked for: parameters, some perhaps several times. */
type Query = (said: Said) => [name: string, value: string | number][]

/** Lists of runs, predictions and scores, and what narrows them down. */
export const evaluationLists = scenario('evaluation lists', (project) => {
  const v2 = `/v2/${project}`
  const ref = (name: string) => `weave:///${project}/object/${name}:abc`
  const post = (title: string, group: string, body: object): Request => ({
    title,
    method: 'POST',
    path: `${v2}/${group}`,
    body,
  })
  const run = (title: string, evaluation: string, model: string) =>
    post(title, 'evaluation_runs', { evaluation: ref(evaluation), model: ref(model) })
  const predict = (title: string, n: number, inRun?: string) =>
    post(title, 'predictions', {
      model: ref('small'),
      inputs: { n },
      output: n + 0.5,
      evaluation_run_id: inRun && fieldOf(inRun, 'evaluation_run_id'),
    })
  const score = (title: string, prediction: string, fields: object, inRun?: string) =>
    post(title, 'scores', {
      prediction_id: fieldOf(prediction, 'prediction_id'),
      scorer: ref('exact'),
      evaluation_run_id: inRun && fieldOf(inRun, 'evaluation_run_id'),
      ...fields,
    })
  const list = (title: string, group: string, query: Query): Request => ({
    title,
    method: 'GET',
    path: (said) => {
      const params = new URLSearchParams()
      for (const [name, value] of query(said)) params.append(name, String(value))
      return `${v2}/${group}?${params}`
    },
  })
  const runs = (title: string, query: Query) => list(title, 'evaluation_runs', query)
  const idOf = (said: Said, title: string) => String(said(title)['evaluation_run_id'])
  return [
    run('a run of one evaluation', 'one', 'small'),
    run('a run of the same with another model', 'one', 'large'),
    run('a run of another evaluation', 'two', 'small'),
    run('a run that is deleted', 'one', 'small'),
    {
      title: 'deletes the run',
      method: 'DELETE',
      path: (said) => `${v2}/evaluation_runs?evaluation_run_ids=${idOf(said, 'a run that is deleted')}`,
    },
    runs('runs', () => []),
    runs('runs of an evaluation', () => [['evaluations', ref('one')]]),
    runs('runs of two evaluations', () => [
      ['evaluations', ref('one')],
      ['evaluations', ref('two')],
    ]),
    runs('runs of an unknown evaluation', () => [['evaluations', ref('three')]]),
    runs('runs of the name of an evaluation', () => [['evaluations', 'one']]),
    runs('runs of a model', () => [['models', ref('small')]]),
    runs('runs of two models', () => [
      ['models', ref('small')],
      ['models', ref('large')],
    ]),
    runs('runs of a model and an evaluation', () => [
      ['models', ref('small')],
      ['evaluations', ref('one')],
    ]),
    runs('runs by id', (said) => [['evaluation_run_ids', idOf(said, 'a run of another evaluation')]]),
    runs('runs by two ids, one of which is not there', (said) => [
      ['evaluation_run_ids', idOf(said, 'a run of another evaluation')],
      ['evaluation_run_ids', NOBODY],
    ]),
    runs('runs by the id of a deleted one', (said) => [
      ['evaluation_run_ids', idOf(said, 'a run that is deleted')],
    ]),
    runs('runs by an id that is none', () => [['evaluation_run_ids', 'nobody']]),
    runs('runs by id and model', (said) => [
      ['evaluation_run_ids', idOf(said, 'a run of one evaluation')],
      ['models', ref('large')],
    ]),
    runs('a page of the runs of an evaluation', () => [
      ['evaluations', ref('one')],
      ['limit', 1],
      ['offset', 1],
    ]),
    runs('no runs at all', () => [['limit', 0]]),
    runs('runs of an empty name', () => [['evaluations', '']]),
    runs('runs below zero', () => [['limit', -1]]),
    runs('runs of a limit that is none', () => [['limit', 'many']]),

    predict('predicts in a run', 1, 'a run of one evaluation'),
    predict('predicts again in it', 2, 'a run of one evaluation'),
    predict('predicts in another run', 3, 'a run of another evaluation'),
    predict('predicts alone', 4),
    score('scores in the run', 'predicts in a run', { value: 0.5 }, 'a run of one evaluation'),
    score('scores again in the run', 'predicts again in it', { value: 1.5 }, 'a run of one evaluation'),
    score(
      'scores in the other run',
      'predicts in another run',
      { value: 2.5 },
      'a run of another evaluation',
    ),
    score('scores alone', 'predicts alone', { value: 3.5 }),
    ...['predictions', 'scores'].flatMap((group) => [
      list(`${group}`, group, () => []),
      list(`${group} of a run`, group, (said) => [
        ['evaluation_run_id', idOf(said, 'a run of one evaluation')],
      ]),
      list(`${group} of another run`, group, (said) => [
        ['evaluation_run_id', idOf(said, 'a run of another evaluation')],
      ]),
      list(`${group} of a run without any`, group, (said) => [
        ['evaluation_run_id', idOf(said, 'a run of the same with another model')],
      ]),
      list(`${group} of an unknown run`, group, () => [['evaluation_run_id', NOBODY]]),
      list(`${group} of a run that is none`, group, () => [['evaluation_run_id', 'nobody']]),
      list(`${group} of an empty name`, group, () => [['evaluation_run_id', '']]),
      list(`a page of ${group} of a run`, group, (said) => [
        ['evaluation_run_id', idOf(said, 'a run of one evaluation')],
        ['limit', 1],
        ['offset', 1],
      ]),
      list(`a page of ${group}`, group, () => [
        ['limit', 2],
        ['offset', 1],
      ]),
      list(`${group} after the last`, group, () => [['offset', 9]]),
      list(`${group} of a limit that is none`, group, () => [['limit', 'many']]),
    ]),
  ]
})
