/**
 * A trainer worker for tests: speaks the contract and trains nothing. A job does what the first trajectory group
 * says in `fake`: `fail`, `die`, `hang`, or `wait` (until it is cancelled); without it, one step a group.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

interface Request {
  kind: string
  request_id: string
  job_id: string
  output_dir: string
  checkpoint_dir: string
  trajectory_groups_path: string
}

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

function writeAdapter(directory: string, weights: string): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'adapter_config.json'), '{}')
  writeFileSync(join(directory, 'adapter_model.safetensors'), weights)
}

function train(request: Request): void {
  const { job_id, output_dir, checkpoint_dir } = request
  let sequence = 0
  const tell = (kind: string, fields: object): void => say({ kind, job_id, sequence: ++sequence, ...fields })
  const groups = readFileSync(request.trajectory_groups_path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { fake?: string })
  tell('job_progress', { phase: 'tokenizing', done: groups.length, total: groups.length })
  tell('training_started', { num_sequences: groups.length })
  const behaviour = groups[0]?.fake
  if (behaviour === 'fail') tell('job_failed', { error_message: 'ValueError: made to fail' })
  if (behaviour === 'die') {
    process.stderr.write('MemoryError: made to die\n', () => process.exit(1))
    return
  }
  if (behaviour !== undefined) return
  for (const index of groups.keys()) tell('gradient_step', { metrics: { loss: 1 / (index + 1) } })
  const before = readFileSync(join(checkpoint_dir, 'adapter_model.safetensors'), 'utf8')
  writeAdapter(output_dir, groups.length === 0 ? before : `${before}+${groups.length}`)
  tell('checkpoint_saved', { directory: output_dir, metrics: { num_gradient_steps: groups.length } })
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const request = JSON.parse(line) as Request
    if (request.kind === 'rl_job') train(request)
    if (request.kind === 'cancel_job') say({ kind: 'job_cancelled', job_id: request.job_id, sequence: 99 })
    if (request.kind === 'create_adapter') {
      writeAdapter(request.output_dir, 'B=0')
      say({ kind: 'adapter_created', request_id: request.request_id, directory: request.output_dir })
    }
  })
  .on('close', () => process.exit(0))

say({ kind: 'worker_ready', base_model: 'test/base', device: 'cpu', dtype: 'float32' })
