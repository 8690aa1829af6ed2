/**
 * `npm run collect`: makes training data of calls on a running server, and trains on it if asked to.
 * `npm run collect -- --help` lists the options.
 */
import { parseArgs } from 'node:util'
import { CollectRes } from '../src/curation/wire.ts'
import { messageOf } from '../src/errors.ts'
import { isRecord } from '../src/json/is-record.ts'
import { JobRes } from '../src/training/jobs/wire.ts'
import { ModelRes } from '../src/training/models/wire.ts'
import { ask, replyOf } from './ask.ts'
import { outliveReader } from './output.ts'
import { showProgress } from './progress.ts'

const HELP = `Usage: npm run collect -- --project ENTITY/PROJECT --into sft --name NAME [OPTION …]

Collects calls, with what was said of them, into a version of a dataset; with --train also submits a training job.

From
  --from calls             calls of the project (the default)
    --op NAME              of this op, whichever version; may be repeated
    --filter JSON          as /calls/stream_query takes it
    --query JSON           as /calls/stream_query takes it
    --limit N              the oldest N of them
  --from queue             completed items of an annotation queue
    --queue ID
    --annotator USER       completed by them
  --from evaluation        predictions of evaluations
    --evaluation CALL_ID   may be repeated

Score
  --score TYPE:PATH        a path in the newest feedback of a type, such as wandb.runnable.exact:output.match
  --score annotation:NAME  the newest annotation of that name
  --score scorer:NAME[:PATH]  what a scorer of the evaluation said
  --min-score N, --max-score N  leaves out what is outside

Messages; found out where these are absent
  --prompt PATH --answer PATH  where a call keeps them, such as inputs.question and output.text
  --system TEXT            put before the prompt

Into
  --into dataset           rows to look at or to evaluate on
    --column NAME=PATH     exactly these columns; may be repeated
  --into sft               conversations to be taught as they are
  --into groups            trajectory groups to learn from by reinforcement; the score is the reward
    --group-by PATH        what is the same task; the prompt where absent
  --name NAME              of the dataset

Training
  --train MODEL            a model of the project
  --base-model ID          registers the model if the project does not have it
  --learning-rate N
  --batch-size N           for sft
  --config JSON            further settings of the job
  --watch                  waits until the job has ended

Server
  --url URL                default $HEDDLE_URL, or http://127.0.0.1:6060
  --key KEY                default $HEDDLE_API_KEY, or $WANDB_API_KEY
  --json                   prints the server's reply alone, or {"error": …}
`

const text = { type: 'string' } as const
const list = { type: 'string', multiple: true } as const
const flag = { type: 'boolean', default: false } as const

const options = {
  project: text,
  from: { ...text, default: 'calls' },
  op: list,
  filter: text,
  query: text,
  limit: text,
  queue: text,
  annotator: text,
  evaluation: list,
  score: text,
  'min-score': text,
  'max-score': text,
  prompt: text,
  answer: text,
  system: text,
  into: text,
  column: list,
  'group-by': text,
  name: text,
  train: text,
  'base-model': text,
  'learning-rate': text,
  'batch-size': text,
  config: text,
  watch: flag,
  url: { ...text, default: process.env.HEDDLE_URL || 'http://127.0.0.1:6060' },
  key: text,
  json: flag,
  help: flag,
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']

/** Options whose values are numbers or JSON. */
type NumberOption = 'limit' | 'min-score' | 'max-score' | 'learning-rate' | 'batch-size'
type JsonOption = 'filter' | 'query' | 'config'

/** Which options are read only with others. One that is given without those was meant, so it is not ignored. */
const NEEDS: readonly {
  needs: string
  isGiven: (values: Values) => boolean
  options: readonly (keyof Values)[]
}[] = [
  {
    needs: '--from calls',
    isGiven: ({ from }) => from === 'calls',
    options: ['op', 'filter', 'query', 'limit'],
  },
  { needs: '--from queue', isGiven: ({ from }) => from === 'queue', options: ['queue', 'annotator'] },
  { needs: '--from evaluation', isGiven: ({ from }) => from === 'evaluation', options: ['evaluation'] },
  { needs: '--prompt and --answer', isGiven: ({ prompt }) => prompt !== undefined, options: ['system'] },
  { needs: '--into dataset', isGiven: ({ into }) => into === 'dataset', options: ['column'] },
  { needs: '--into groups', isGiven: ({ into }) => into === 'groups', options: ['group-by'] },
  { needs: '--into sft or groups', isGiven: ({ into }) => into !== 'dataset', options: ['train'] },
  { needs: '--into sft', isGiven: ({ into }) => into === 'sft', options: ['batch-size'] },
  {
    needs: '--train',
    isGiven: ({ train }) => train !== undefined,
    options: ['base-model', 'learning-rate', 'batch-size', 'config', 'watch'],
  },
]

/** Options that are a member of another one, which may not say it as well. */
const MEMBERS: readonly { option: keyof Values; of: JsonOption; member: string }[] = [
  { option: 'op', of: 'filter', member: 'op_names' },
  { option: 'learning-rate', of: 'config', member: 'learning_rate' },
  { option: 'batch-size', of: 'config', member: 'batch_size' },
]

/** Interval of polling a job. */
const POLL_MS = 500

async function collect(): Promise<void> {
  const { values } = parseArgs({ options })
  if (values.help) {
    process.stdout.write(HELP)
    return
  }
  const [entity, project, ...rest] = wanted(values.project, 'project').split('/')
  if (!entity || !project || rest.length > 0) throw new Error('--project is ENTITY/PROJECT')
  const body = bodyOf(values, `${entity}/${project}`)
  refuseUnread(values)
  const reply = await ask(values, 'POST', `/v2/${entity}/${project}/collect`, body)
  const collected = replyOf(values.url, CollectRes, reply)
  if (values.json) process.stdout.write(`${JSON.stringify(reply)}\n`)
  else show(collected)
  if (values.watch && collected.job_id !== null) await watch(values, collected.job_id)
}

/** @throws Error that names each option which the others make meaningless, or say as well */
function refuseUnread(values: Values): void {
  const unread = NEEDS.flatMap(({ needs, isGiven, options }) =>
    isGiven(values)
      ? []
      : options
          .filter((name) => values[name] !== undefined && values[name] !== false)
          .map((name) => `--${name} needs ${needs}`),
  )
  const twice = MEMBERS.flatMap(({ option, of, member }) =>
    values[option] !== undefined && Object.hasOwn(members(values, of), member)
      ? [`--${option} is ${member} of --${of}: give one of them`]
      : [],
  )
  if (unread.length + twice.length > 0) throw new Error([...unread, ...twice].join('\n'))
}

function bodyOf(values: Values, projectId: string): object {
  const isSaid = values['min-score'] !== undefined || values['max-score'] !== undefined
  const hasMessages = values.prompt !== undefined || values.answer !== undefined
  return {
    from: fromOf(values, projectId),
    score: values.score === undefined ? undefined : scoreOf(values.score),
    where: isSaid
      ? { min_score: number(values, 'min-score'), max_score: number(values, 'max-score') }
      : undefined,
    messages: hasMessages
      ? {
          prompt: wanted(values.prompt, 'prompt'),
          answer: wanted(values.answer, 'answer'),
          system: values.system,
        }
      : undefined,
    into: intoOf(values),
  }
}

function fromOf(values: Values, projectId: string): object {
  switch (values.from) {
    case 'calls': {
      const op_names = values.op?.flatMap((name) => [name, `weave:///${projectId}/op/${name}:*`])
      const filter = { op_names, ...members(values, 'filter') }
      return { calls: { filter, query: json(values, 'query'), limit: number(values, 'limit') } }
    }
    case 'queue':
      return { annotation_queue: { queue_id: wanted(values.queue, 'queue'), annotator: values.annotator } }
    case 'evaluation':
      return { eval_results: { evaluation_call_ids: wanted(values.evaluation, 'evaluation') } }
    default:
      throw new Error('--from is calls, queue or evaluation')
  }
}

function scoreOf(said: string): object {
  const [kind, name, ...path] = said.split(':')
  if (kind === 'annotation' && name) return { annotation: [name, ...path].join(':') }
  if (kind === 'scorer' && name) return { scorer: name, path: path.length > 0 ? path.join(':') : undefined }
  const colon = said.lastIndexOf(':')
  if (colon < 1) throw new Error('--score is TYPE:PATH, annotation:NAME or scorer:NAME[:PATH]')
  return { feedback_type: said.slice(0, colon), path: said.slice(colon + 1) }
}

function intoOf(values: Values): object {
  const name = wanted(values.name, 'name')
  const train = values.train === undefined ? undefined : trainOf(values)
  switch (values.into) {
    case 'dataset':
      return { dataset: { name, columns: columnsOf(values.column) } }
    case 'sft':
      return { sft: { name, train } }
    case 'groups':
      return { trajectory_groups: { name, group_by: values['group-by'], train } }
    default:
      throw new Error('--into is dataset, sft or groups')
  }
}

function trainOf(values: Values): object {
  const config = {
    learning_rate: number(values, 'learning-rate'),
    batch_size: number(values, 'batch-size'),
    ...members(values, 'config'),
  }
  return { model: values.train, base_model: values['base-model'], config }
}

function columnsOf(given: string[] | undefined): Record<string, string> | undefined {
  const pairs = given?.map((column) => {
    const at = column.indexOf('=')
    if (at < 1) throw new Error('--column is NAME=PATH')
    return [column.slice(0, at), column.slice(at + 1)] as const
  })
  return pairs && Object.fromEntries(pairs)
}

function wanted<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`--${name} is missing; --help says what it is`)
  return value
}

function number(values: Values, name: NumberOption): number | undefined {
  const given = values[name]
  if (given === undefined) return undefined
  const value = Number(given)
  if (given.trim() === '' || Number.isNaN(value)) throw new Error(`--${name} is a number`)
  return value
}

function members(values: Values, name: JsonOption): Record<string, unknown> {
  const value = json(values, name) ?? {}
  if (!isRecord(value)) throw new Error(`--${name} is an object of JSON`)
  return value
}

function json(values: Values, name: JsonOption): unknown {
  const given = values[name]
  if (given === undefined) return undefined
  try {
    return JSON.parse(given)
  } catch (error) {
    throw new Error(`--${name} is JSON: ${messageOf(error)}`)
  }
}

function show({ rows, groups, left_out, dataset_ref, job_id }: CollectRes): void {
  const inGroups = groups === null ? '' : ` in ${groups} ${groups === 1 ? 'group' : 'groups'}`
  const lines = [
    `Collected ${rows} ${rows === 1 ? 'row' : 'rows'}${inGroups} into ${dataset_ref}`,
    ...left_out.map(
      ({ reason, count, example_call_id }) => `  left out ${count} × ${reason} (such as ${example_call_id})`,
    ),
    ...(job_id === null ? [] : [`Training job ${job_id}`]),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Waits until a job has ended. @throws Error with the job's own when it failed. */
async function watch(values: Values, id: string): Promise<void> {
  const progress = showProgress('Training')
  for (;;) {
    const job = replyOf(values.url, JobRes, await ask(values, 'GET', `/v1/preview/training-jobs/${id}`))
    if (job.state === 'succeeded') {
      progress.done()
      const name = await modelName(values, job.model_id)
      if (!values.json) process.stdout.write(`Model wandb-artifact:///${name}:step${job.checkpoint_step}\n`)
      return
    }
    if (job.state === 'failed' || job.state === 'cancelled') {
      progress.failed()
      throw new Error(`The job ${job.state}: ${job.error_message}`)
    }
    progress.show(
      job.progress ? `${job.progress.phase} ${job.progress.done}/${job.progress.total}` : job.state,
    )
    await new Promise((wake) => setTimeout(wake, POLL_MS))
  }
}

async function modelName(values: Values, id: string): Promise<string> {
  const reply = await ask(values, 'GET', `/v1/preview/models/${id}`)
  const { entity, project, name } = replyOf(values.url, ModelRes, reply)
  return `${entity}/${project}/${name}`
}

outliveReader()
await collect().catch((error: unknown) => {
  // Scripts that read JSON find the reason there.
  if (process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify({ error: messageOf(error) })}\n`)
  else process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
})
