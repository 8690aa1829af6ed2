import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { z } from 'zod'
import { groups } from '../wire/training-client.ts'
import type { Work } from './rounds.ts'
import { HEADERS, sendUntilTaken } from './send.ts'

const MODEL = 'wandb-artifact:///faults/training/model'

/** Trajectory groups of a job: it takes seconds. */
const GROUPS = 2

const LOOK_MS = 200
const PAGE = 100
const END_MS_MAX = 300_000

/** The first eight bytes of safetensors: how long their header is. */
const LENGTH_BYTES = 8

const Id = z.object({ id: z.string() })
const Page = z.object({ data: z.array(z.looseObject({ id: z.string() })), has_more: z.boolean() })
const Event = z.object({ type: z.string(), data: z.looseObject({ num_sequences: z.number().optional() }) })
type Event = z.output<typeof Event>
const Job = z.object({ state: z.string(), checkpoint_step: z.number().nullable() })
const Checkpoint = z.object({ step: z.number() })
const Answer = z.object({ choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })]) })
const SafetensorsHeader = z.record(
  z.string(),
  z.looseObject({ data_offsets: z.array(z.number()).optional() }),
)

/** A client that trains a model, one job after the other, and one that asks for completions. */
export interface Trainees {
  works: readonly Work[]
  /** Resolves once they have stopped. */
  stopped: Promise<void>
  /** That each job has ended once, with a whole checkpoint, and that answers were always the same. */
  check(): Promise<void>
}

/** They send again what was refused or had no answer. Resolves when the engine has trained and answered once. */
export async function startTrainees(url: string, signal: AbortSignal): Promise<Trainees> {
  const send = (method: string, path: string, body?: unknown): Promise<unknown> =>
    sendUntilTaken(url, method, path, body)
  const model = { project: 'training', name: 'model', base_model: 'heddle/loom-tiny', entity: 'faults' }
  const { id: modelId } = Id.parse(
    await send('POST', '/v1/preview/models', { ...model, return_existing: true }),
  )
  const ended: string[] = []
  const answers: string[] = []

  /** All of a list, which comes in pages. */
  async function listOf<Item>(path: string, schema: z.ZodType<Item>): Promise<Item[]> {
    const items: unknown[] = []
    for (let after: string | undefined = ''; after !== undefined; ) {
      const query = `limit=${PAGE}${after === '' ? '' : `&after=${after}`}`
      const { data, has_more } = Page.parse(
        await send('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`),
      )
      items.push(...data)
      after = has_more ? data.at(-1)?.id : undefined
    }
    return z.array(schema).parse(items)
  }

  const eventsOf = (job: string): Promise<Event[]> => listOf(`/v1/preview/training-jobs/${job}/events`, Event)

  async function train(): Promise<void> {
    const body = { model_id: modelId, trajectory_groups: groups(GROUPS), experimental_config: {} }
    const { id } = Id.parse(await send('POST', '/v1/preview/training-jobs', body))
    while (endsOf(await eventsOf(id)).length === 0) await delay(LOOK_MS)
    ended.push(id)
  }

  async function ask(name: string): Promise<string> {
    const messages = [{ role: 'user', content: 'What is 2 + 2?' }]
    const body = { model: name, messages, max_tokens: 8, temperature: 0 }
    return Answer.parse(await send('POST', '/v1/chat/completions', body)).choices[0].message.content
  }

  async function chat(): Promise<void> {
    answers.push(await ask(`${MODEL}:step0`))
    await delay(LOOK_MS)
  }

  async function repeat(work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) await work()
  }

  async function check(): Promise<void> {
    expect(new Set(answers).size).toBe(1)
    for (const id of ended) {
      const events = await eventsOf(id)
      expect(endsOf(events), JSON.stringify(events.at(-1))).toEqual(['training_ended'])
      const steps = events.filter(({ type }) => type === 'gradient_step')
      const started = events.filter(({ type }) => type === 'training_started')
      expect(started).toHaveLength(1)
      expect(steps).toHaveLength(started[0]?.data.num_sequences ?? Number.NaN)
    }
    // Also those whose submission had no answer.
    const jobs = () => listOf(`/v1/preview/training-jobs?model_id=${modelId}`, Job)
    const states = async (): Promise<string[]> => [...new Set((await jobs()).map(({ state }) => state))]
    await expect.poll(states, { timeout: END_MS_MAX }).toEqual(['succeeded'])
    const path = `/v1/preview/models/${modelId}/checkpoints`
    const steps = (await listOf(path, Checkpoint)).map(({ step }) => step)
    const ofJobs = (await jobs()).map(({ checkpoint_step: step }) => step ?? 0)
    expect(steps).toEqual([0, ...ofJobs.toSorted((one, other) => one - other)])
    for (const step of steps) await checkFiles(`${url}${path}/${step}/files`)
    await ask(`${MODEL}:step${steps.at(-1)}`)
  }

  await Promise.all([train(), chat()])
  const all = Promise.all([repeat(train), repeat(chat)])
  return {
    works: [
      { name: 'training jobs', done: () => ended.length, between: 0 },
      { name: 'completions', done: () => answers.length, between: 2 },
    ],
    stopped: all.then(() => undefined),
    check,
  }
}

function endsOf(events: readonly Event[]): string[] {
  return events.map(({ type }) => type).filter((type) => /^training_(ended|failed)$/.test(type))
}

/** That an adapter has all bytes that its header announces, and that its other file is JSON. */
async function checkFiles(path: string): Promise<void> {
  const fileOf = async (name: string): Promise<Buffer> => {
    const reply = await fetch(`${path}/${name}`, { headers: HEADERS })
    expect(reply.status).toBe(200)
    return Buffer.from(await reply.arrayBuffer())
  }
  JSON.parse((await fileOf('adapter_config.json')).toString())
  const weights = await fileOf('adapter_model.safetensors')
  const start = LENGTH_BYTES + Number(weights.readBigUInt64LE())
  const header = SafetensorsHeader.parse(JSON.parse(weights.subarray(LENGTH_BYTES, start).toString()))
  const ends = Object.values(header).flatMap(({ data_offsets = [] }) => data_offsets)
  expect(weights.length).toBe(start + Math.max(...ends))
}
