/**
 * A trainer worker for tests: speaks the contract and trains nothing. A job does what the first trajectory group says
 * in `fake`: `fail`, `die`, `die-once`, `die-after-each` (each attempt ends one step later than the one before),
 * `hang`, or `wait` (until it is cancelled); without it, one step for each group. An SFT job takes one step a line. An
 * adapter of layers named `missing` is refused. It sleeps and wakes, but refuses where there is a file `no-sleep`, and
 * answers only once there is no `slow-sleep` any more. It does not start where there is a file `no-start`, and says
 * that no other would where that has the word `ever`.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readFakeAdapter, writeFakeAdapter } from './fake-adapter.ts'

interface Request {
  kind: string
  request_id: string
  job_id: string
  output_dir: string
  work_dir: string
  checkpoint_dir: string
  trajectory_groups_path: string
  data_path: string
  lora?: { target_modules: string[] }
}

interface Line {
  fake?: string
  metrics?: Record<string, number>
}

const SLOW_SLEEP_POLL_MS = 20

let isAsleep = false

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

function train(request: Request, path: string): void {
  const { job_id, output_dir, checkpoint_dir } = request
  let sequence = 0
  const tell = (kind: string, fields: object): void => say({ kind, job_id, sequence: ++sequence, ...fields })
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
  tell('job_progress', { phase: 'tokenizing', done: lines.length, total: lines.length })
  tell('training_started', { num_sequences: lines.length })
  const behaviour = lines[0]?.fake
  const mark = join(request.work_dir, 'died')
  const deaths = existsSync(mark) ? Number(readFileSync(mark, 'utf8')) : 0
  if (behaviour === 'fail') {
    const error_message = 'ValueError: made to fail'
    process.stderr.write(`${error_message}\n`, () => tell('job_failed', { error_message }))
  }
  const dies: Record<string, boolean> = {
    die: true,
    'die-once': deaths === 0,
    'die-after-each': deaths + 1 < lines.length,
  }
  if (behaviour !== undefined && dies[behaviour] === true) {
    for (let step = 0; step <= (behaviour === 'die-after-each' ? deaths : 0); step++)
      tell('gradient_step', { metrics: { loss: 1 } })
    mkdirSync(request.work_dir, { recursive: true })
    writeFileSync(mark, String(deaths + 1))
    process.stderr.write('MemoryError: made to die\n', () => process.exit(1))
    return
  }
  if (behaviour !== undefined && !(behaviour in dies)) return
  for (const [index, line] of lines.entries()) {
    tell('gradient_step', { metrics: { loss: 1 / (index + 1), ...line.metrics } })
  }
  const before = readFakeAdapter(checkpoint_dir)
  writeFakeAdapter(output_dir, lines.length === 0 ? before : `${before}+${lines.length}`)
  tell('checkpoint_saved', { directory: output_dir, metrics: { num_gradient_steps: lines.length } })
}

function createAdapter({ request_id, output_dir, lora }: Request): void {
  if (lora?.target_modules.includes('missing')) {
    const refusal = { error_message: 'there are no layers missing', error_field: 'lora.target_modules' }
    say({ kind: 'request_failed', request_id, ...refusal })
    return
  }
  writeFakeAdapter(output_dir, 'B=0')
  say({ kind: 'adapter_created', request_id, directory: output_dir })
}

function merge({ request_id, output_dir, checkpoint_dir }: Request): void {
  mkdirSync(output_dir, { recursive: true })
  writeFileSync(join(output_dir, 'model.safetensors'), readFakeAdapter(checkpoint_dir))
  say({ kind: 'adapter_merged', request_id, directory: output_dir, logprob_gap_max: 0 })
}

function sleep({ kind, request_id }: Request): void {
  if (existsSync('no-sleep')) {
    say({ kind: 'request_failed', request_id, error_message: 'made to fail' })
  } else {
    isAsleep = kind === 'sleep'
    const answer = { kind: isAsleep ? 'asleep' : 'awake', request_id }
    const answerLater = (): void => {
      if (existsSync('slow-sleep')) setTimeout(answerLater, SLOW_SLEEP_POLL_MS)
      else say(answer)
    }
    setTimeout(answerLater, 0)
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const request = JSON.parse(line) as Request
    if (request.kind === 'sleep' || request.kind === 'wake') return sleep(request)
    if (isAsleep) throw new Error('it sleeps')
    if (request.kind === 'rl_job') train(request, request.trajectory_groups_path)
    if (request.kind === 'sft_job') train(request, request.data_path)
    if (request.kind === 'merge_adapter') merge(request)
    if (request.kind === 'cancel_job') say({ kind: 'job_cancelled', job_id: request.job_id, sequence: 99 })
    if (request.kind === 'create_adapter') createAdapter(request)
  })
  .on('close', () => process.exit(0))

process.stderr.write(`process ${process.pid}\n`)
if (existsSync('no-start')) {
  const reason = 'The trainer cannot start: made to fail'
  const isForEver = readFileSync('no-start', 'utf8') === 'ever'
  if (isForEver) say({ kind: 'base_model_unusable', error_message: 'made to fail' })
  process.stderr.write(`${reason}\n`, () => process.exit(1))
} else say({ kind: 'worker_ready', base_model: 'test/base', device: 'cpu', dtype: 'float32' })
