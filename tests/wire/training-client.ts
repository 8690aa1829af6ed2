import { randomUUID } from 'node:crypto'
import type { WireServer } from './server.ts'
import { until } from './until.ts'

export interface Event {
  type: string
  data: Record<string, string | number>
}

export interface Checkpoint {
  id: string
  step: number
  metrics: Record<string, number>
}

const ENDS = /^training_(ended|failed)$/

/** The training API as a client sees it, for tests that need no client library. */
export function trainingClient(server: () => WireServer) {
  function request(method: string, path: string, body?: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${server().key}` }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return fetch(`${server().url}${path}`, { method, headers, ...(body !== undefined && { body: text }) })
  }

  /** The reply of a call that must succeed. */
  async function call<Reply = Record<string, never>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Reply> {
    const response = await request(method, path, body)
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Reply
  }

  async function newModel(more: object = {}): Promise<{ id: string; name: string }> {
    const name = randomUUID()
    const body = {
      project: 'wire',
      name,
      base_model: 'heddle/loom-tiny',
      entity: null,
      return_existing: true,
    }
    const model = await call('POST', '/v1/preview/models', { ...body, ...more })
    return { id: model['id'] ?? '', name: `wandb-artifact:///local/wire/${name}` }
  }

  async function startJob(modelId: string, groups: unknown[], config: object = {}): Promise<string> {
    const experimental_config = { learning_rate: 1e-5, ...config }
    const body = { model_id: modelId, trajectory_groups: groups, experimental_config }
    return (await call('POST', '/v1/preview/training-jobs', body))['id'] ?? ''
  }

  async function eventsOf(jobId: string): Promise<Event[]> {
    const all: Event[] = []
    for (let after = ''; ; ) {
      const path = `/v1/preview/training-jobs/${jobId}/events?limit=100${after && `&after=${after}`}`
      const page = await call<{ data: (Event & { id: string })[]; has_more: boolean }>('GET', path)
      all.push(...page.data)
      after = page.data.at(-1)?.id ?? ''
      if (!page.has_more) return all
    }
  }

  return {
    request,
    call,
    newModel,
    startJob,
    eventsOf,
    firstStep: (jobId: string) =>
      until(async () => (await eventsOf(jobId)).find((event) => event.type === 'gradient_step')),
    end: (jobId: string) => until(async () => (await eventsOf(jobId)).find((event) => ENDS.test(event.type))),

    async newest(modelId: string): Promise<Checkpoint> {
      const path = `/v1/preview/models/${modelId}/checkpoints?limit=1&order=desc`
      const page = await call<{ data: Checkpoint[] }>('GET', path)
      return page.data[0] ?? { id: '', step: -1, metrics: {} }
    },

    async chat(model: string): Promise<string> {
      const messages = [{ role: 'user', content: 'What is 2 + 2?' }]
      const body = { model, messages, max_tokens: 8, temperature: 0 }
      type Reply = { choices: { message: { content: string } }[] }
      const reply = await call<Reply>('POST', '/v1/chat/completions', body)
      return reply.choices[0]?.message.content ?? ''
    },
  }
}

/** A trajectory of made-up tokens. */
export function trajectory(reward: unknown, { tokens = 200, logprob = -2 as unknown } = {}): object {
  const content = Array.from({ length: tokens }, (_, index) => ({
    token: `token_id:${100 + (index % 300)}`,
    bytes: [],
    logprob,
    top_logprobs: [],
  }))
  const choice = {
    finish_reason: 'length',
    index: 0,
    logprobs: { content, refusal: null },
    message: { role: 'assistant', content: 'made up' },
  }
  return { messages_and_choices: [{ role: 'user', content: 'hi' }, choice], reward }
}

/** Groups that keep a worker busy for a while. */
export function groups(count: number): object[] {
  return Array.from({ length: count }, () => ({
    trajectories: [0, 1, 2, 3].map((reward) => trajectory(reward)),
  }))
}
