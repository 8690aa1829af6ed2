import { Agent, type Dispatcher, request } from 'undici'
import { z } from 'zod'
import { messageOf } from '../../../errors.ts'

/** The head of a busy cluster answers within seconds; its first job may wait for a process that it starts. */
const REPLY_MS_MAX = 30_000

/** The output of a job has some lines, until it is connected to. */
const REPLY_BYTES_MAX = 16 * 1024 ** 2

/** Characters of an unexpected reply that messages quote. */
const WORDS_MAX = 300

/** Wire: states that a job of Ray does not leave. */
const ENDED = ['STOPPED', 'SUCCEEDED', 'FAILED']

const State = z.object({
  status: z.string(),
  message: z.string().nullish(),
  error_type: z.string().nullish(),
})

const Logs = z.object({ logs: z.string() })

const Version = z.object({ ray_version: z.string() })

/** A Ray cluster whose jobs the engine's processes are. */
export interface RaySetting {
  /** Of its dashboard, whose Jobs API starts them. */
  url: string
  token: string | undefined
  /** The Python with the engine's packages on the nodes. */
  python: string
  /** The root of the workspace as the nodes see it; undefined where that is the path of this machine. */
  workspace: string | undefined
  /** The share of a GPU's memory that an inference server takes. */
  gpuMemory: number
  trainer(baseModel: string): RayResources
  server(baseModel: string): RayResources
}

/** What Ray reserves for a job on one node. */
export interface RayResources {
  cpus: number
  /** Less than one is a share of one; more are used together. */
  gpus: number
  /** Undefined for no reservation. */
  memoryBytes: number | undefined
  /** Those that nodes declare by names of their own. */
  custom: Record<string, number>
  /** Labels that the node must have. */
  labels: Record<string, string>
}

/** A job to run once, on a node with what it needs. */
export interface RayJob {
  /** Chosen by the sender, so that a job whose submission was not answered can be stopped. */
  id: string
  /** A shell command. */
  command: string
  /** The name of the package that is its working directory. */
  packageName: string
  env: Record<string, string>
  /** What others see of it. */
  metadata: Record<string, string>
  resources: RayResources
}

/** How a job is; `message` is Ray's text for people. */
export interface RayJobState {
  status: string
  message: string
  /** Wire: why a job failed, such as `JOB_SUPERVISOR_ACTOR_START_TIMEOUT`. */
  errorType: string | undefined
  hasEnded: boolean
}

/** The cluster did not answer, or cannot answer now; the message names it and the reason. */
export class RayUnreachable extends Error {}

/**
 * The Jobs API of a Ray cluster. Every request has a deadline.
 * @throws RayUnreachable; Error that names the cluster and what it answered
 */
export interface RayJobs extends AsyncDisposable {
  /** The version of Ray. */
  version(signal: AbortSignal): Promise<string>
  /** Uploads a package unless the cluster has it; either way it is there for the next ten minutes. */
  provide(name: string, bytes: () => Promise<Uint8Array>, signal: AbortSignal): Promise<void>
  submit(job: RayJob, signal: AbortSignal): Promise<void>
  /** Undefined where there is no such job. */
  find(id: string, signal: AbortSignal): Promise<RayJobState | undefined>
  /** All that it has written. */
  output(id: string, signal: AbortSignal): Promise<string>
  /** Asks for its end, without waiting. One that waits for resources ends as soon as it has them. */
  stop(id: string, signal: AbortSignal): Promise<void>
  /** Removes the record of one that has ended. */
  forget(id: string, signal: AbortSignal): Promise<void>
}

interface Reply {
  status: number
  text: string
}

/** @param url of the cluster's dashboard, without a slash at its end */
export function createRayJobs(url: string, token: string | undefined): RayJobs {
  const agent = new Agent({ maxResponseSize: REPLY_BYTES_MAX })
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }

  async function exchange(
    method: Dispatcher.HttpMethod,
    path: string,
    { body, signal }: { body?: string | Uint8Array; signal: AbortSignal },
  ): Promise<Reply> {
    const deadline = AbortSignal.timeout(REPLY_MS_MAX)
    try {
      const reply = await request(`${url}${path}`, {
        method,
        headers: { ...headers, ...(typeof body === 'string' && { 'content-type': 'application/json' }) },
        signal: AbortSignal.any([signal, deadline]),
        dispatcher: agent,
        ...(body !== undefined && { body }),
      })
      return { status: reply.statusCode, text: await reply.body.text() }
    } catch (error) {
      signal.throwIfAborted()
      const reason = deadline.aborted ? `no answer within ${REPLY_MS_MAX / 1000} s` : messageOf(error)
      throw new RayUnreachable(`Ray at ${url}: ${method} ${path}: ${reason}`, { cause: error })
    }
  }

  /** The reply of a cluster that is there and takes the request. */
  async function send(
    method: Dispatcher.HttpMethod,
    path: string,
    sent: { body?: string | Uint8Array; signal: AbortSignal },
  ): Promise<Reply> {
    const reply = await exchange(method, path, sent)
    if (reply.status === 200 || reply.status === 404) return reply
    const refusal = `Ray at ${url}: ${method} ${path}: ${wordsOf(reply)}`
    throw reply.status >= 500 ? new RayUnreachable(refusal) : new Error(refusal)
  }

  /** @throws Error also where the reply is not what Ray's is. */
  async function ask<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<z.output<Schema> | undefined> {
    const { status, text } = await send('GET', path, { signal })
    if (status === 404) return undefined
    try {
      return schema.parse(JSON.parse(text))
    } catch (error) {
      const words = text.slice(0, WORDS_MAX)
      throw new Error(`Ray at ${url}: the reply to ${path} is not that of its Jobs API: ${words}`, {
        cause: error,
      })
    }
  }

  return {
    async version(signal) {
      const path = '/api/version'
      const found = await ask(path, Version, signal)
      if (found === undefined) throw new Error(`HEDDLE_RAY_URL is not that of a Ray dashboard: no ${path}`)
      return found.ray_version
    },
    async provide(name, bytes, signal) {
      const path = `/api/packages/gcs/${name}`
      // Wire: the question itself keeps a package that is there for ten minutes.
      const { status } = await send('GET', path, { signal })
      if (status === 404) assertFound(await send('PUT', path, { body: await bytes(), signal }), path)
    },
    async submit(job, signal) {
      const path = '/api/jobs/'
      assertFound(await send('POST', path, { body: JSON.stringify(submission(job)), signal }), path)
    },
    async find(id, signal) {
      const found = await ask(`/api/jobs/${id}`, State, signal)
      return found && stateOf(found)
    },
    output: async (id, signal) => (await ask(`/api/jobs/${id}/logs`, Logs, signal))?.logs ?? '',
    async stop(id, signal) {
      await send('POST', `/api/jobs/${id}/stop`, { signal })
    },
    async forget(id, signal) {
      await send('DELETE', `/api/jobs/${id}`, { signal })
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  }
}

/** Wire: fields of a submission, as Ray 2.60 has them. */
function submission({ id, command, packageName, env, metadata, resources }: RayJob): object {
  const { cpus, gpus, memoryBytes, custom, labels } = resources
  return {
    submission_id: id,
    entrypoint: command,
    runtime_env: { working_dir: `gcs://${packageName}`, env_vars: env },
    metadata,
    entrypoint_num_cpus: cpus,
    entrypoint_num_gpus: gpus,
    entrypoint_resources: custom,
    ...(memoryBytes !== undefined && { entrypoint_memory: memoryBytes }),
    ...(Object.keys(labels).length > 0 && { entrypoint_label_selector: labels }),
  }
}

function stateOf({ status, message, error_type }: z.output<typeof State>): RayJobState {
  return {
    status,
    message: message ?? '',
    errorType: error_type ?? undefined,
    hasEnded: ENDED.includes(status),
  }
}

/** What is no Ray answers 404 to a submission. */
function assertFound({ status, text }: Reply, path: string): void {
  if (status === 404) throw new Error(`HEDDLE_RAY_URL is not that of a Ray dashboard: no ${path}: ${text}`)
}

/** Of a traceback, which Ray answers, the last line. */
function wordsOf({ status, text }: Reply): string {
  if (status === 401 || status === 403) return `it refuses the token (HEDDLE_RAY_TOKEN): ${status}`
  const last = text.trim().split('\n').at(-1) ?? ''
  return `status ${status}: ${last.slice(0, WORDS_MAX)}`
}
