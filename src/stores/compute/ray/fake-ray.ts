/** The Jobs API of Ray for tests: a job is a process of this machine, and what goes wrong is up to the test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'

/** Where the packages of nodes lie, unpacked. */
const PACKAGE_FOLDER = resolve(import.meta.dirname, '../../../../engine')

export interface FakeJob {
  status: 'PENDING' | 'RUNNING' | 'STOPPED' | 'SUCCEEDED' | 'FAILED'
  message: string
  error_type?: string
  metadata: Record<string, string>
  request: Record<string, unknown>
  output: string
  process?: ChildProcess
}

export interface FakeRay extends AsyncDisposable {
  url: string
  /** By their ids, in the order in which they were submitted. */
  jobs: Map<string, FakeJob>
  packages: Map<string, number>
  /** Ids of jobs that were asked to end. */
  stopped: string[]
  /** Requests that were refused. */
  refused: number
  /** Set by a test: whether jobs start at once, or wait; what is answered to everything instead. */
  behaviour: { start: 'at-once' | 'wait'; refusal?: { status: number; text: string } }
  /** Starts a job that waits. */
  startJob(id: string): void
}

/** @param environment of the processes */
export async function startFakeRay(environment: NodeJS.ProcessEnv): Promise<FakeRay> {
  const fake: Omit<FakeRay, 'url' | keyof AsyncDisposable> = {
    jobs: new Map(),
    packages: new Map(),
    stopped: [],
    refused: 0,
    behaviour: { start: 'at-once' },
    startJob,
  }

  function startJob(id: string): void {
    const job = fake.jobs.get(id)
    if (job?.status === 'PENDING') launch(job, environment)
  }

  async function answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const { method, url = '' } = request
    const [, , kind, id = '', action] = url.split('/')
    const ok = (body: unknown = '') => ({ status: 200, body })
    if (kind === 'packages') {
      const name = action ?? ''
      if (method === 'GET') return fake.packages.has(name) ? ok() : { status: 404, body: 'does not exist' }
      fake.packages.set(name, (await text(request)).length)
      return ok()
    }
    if (method === 'POST' && id === '') {
      const body = JSON.parse(await text(request)) as Record<string, unknown>
      const submission_id = String(body['submission_id'])
      fake.jobs.set(submission_id, {
        status: 'PENDING',
        message: 'Job has not started yet. It may be waiting for resources.',
        metadata: body['metadata'] as Record<string, string>,
        request: body,
        output: '',
      })
      if (fake.behaviour.start === 'at-once') startJob(submission_id)
      return ok({ submission_id })
    }
    const job = fake.jobs.get(id)
    if (job === undefined) return { status: 404, body: 'does not exist' }
    if (action === 'logs') return ok({ logs: job.output })
    if (action === 'stop') {
      fake.stopped.push(id)
      if (job.status === 'RUNNING') job.status = 'STOPPED'
      end(job)
    }
    if (method === 'DELETE') fake.jobs.delete(id)
    return ok(shown(job))
  }

  const server = createServer((request, reply) => {
    const { refusal } = fake.behaviour
    if (refusal !== undefined) fake.refused++
    const answered =
      refusal === undefined
        ? answer(request)
        : Promise.resolve({ status: refusal.status, body: refusal.text })
    answered.then(
      ({ status, body }) =>
        reply.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body)),
      (error: unknown) => reply.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return Object.assign(fake, {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const job of fake.jobs.values()) end(job)
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  })
}

function launch(job: FakeJob, environment: NodeJS.ProcessEnv): void {
  const { env_vars } = job.request['runtime_env'] as { env_vars: Record<string, string> }
  const child = spawn('sh', ['-c', String(job.request['entrypoint'])], {
    cwd: PACKAGE_FOLDER,
    env: { ...environment, ...env_vars, RAY_ADDRESS: '127.0.0.1:6379' },
    detached: true,
  })
  job.process = child
  job.status = 'RUNNING'
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      job.output += chunk.toString()
    })
  child.once('close', (code) => {
    if (job.status !== 'RUNNING') return
    job.status = code === 0 ? 'SUCCEEDED' : 'FAILED'
    if (code !== 0) job.message = `Job entrypoint command failed with exit code ${code}:\n${job.output}`
  })
}

function shown({ status, message, error_type, metadata }: FakeJob): object {
  return { status, message, error_type: error_type ?? null, metadata }
}

/** As Ray does it, but without its grace period. */
function end({ process: child }: FakeJob): void {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  process.kill(-child.pid, 'SIGKILL')
}
