/**
 * Correct clients: they write calls, halves of calls, feedback and objects, read them again, and remember what was
 * acknowledged. A process of its own; the parent sends it the server's address and the times of kills.
 */
import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { z } from 'zod'
import { JSON_HEADERS } from '../../scripts/own-server.ts'
import { messageOf } from '../../src/errors.ts'
import { answerParent } from '../child.ts'

export type GoodTask = { kind: 'up'; url: string } | { kind: 'down' | 'start' | 'stop' | 'verify' }

/** The result of verifying everything that the clients have written. */
export interface GoodOutcome {
  /** What was acknowledged and is missing. */
  lost: string[]
  /** How much was acknowledged, by kind. */
  acknowledged: Record<string, number>
  counts: { requests: number; refused: number; cut: number; failed: number }
  /** The first failures in words. */
  failures: string[]
}

const CLIENTS = 6

const PAUSE_MS = 30

/** A read that takes longer is useless to its client. */
const ANSWER_MS_MAX = 60_000

const PROJECTS = ['soak/one', 'soak/two']

/** Failures that are reported one by one. */
const TOLD_MAX = 10

/** By kind, what was acknowledged, as `project id`. */
const acknowledged = {
  calls: new Set<string>(),
  ended: new Set<string>(),
  feedback: new Set<string>(),
  objects: new Set<string>(),
}
const KINDS = ['calls', 'ended', 'feedback', 'objects'] as const
const counts = { requests: 0, refused: 0, cut: 0, failed: 0 }
const failures: string[] = []
let pool: Pool | undefined
let isDown = true
let isOn = true

/** The reply to a request; undefined where it was refused temporarily, or the server was killed meanwhile. */
async function ask(path: string, body: object): Promise<string | undefined> {
  while (isDown && isOn) await pause()
  counts.requests++
  const asked = pool
  if (asked === undefined) return undefined
  try {
    const reply = await asked.request({
      method: 'POST',
      path,
      headers: JSON_HEADERS,
      body: JSON.stringify(body),
    })
    const text = await reply.body.text()
    if (reply.statusCode === 200) return text
    if ([429, 503].includes(reply.statusCode) && reply.headers['retry-after'] !== undefined) counts.refused++
    else failed(`${path}: ${reply.statusCode} ${text.slice(0, 300)}`)
  } catch (error) {
    if (isDown || asked !== pool) counts.cut++
    else failed(`${path}: ${messageOf(error)}`)
  }
  return undefined
}

function failed(text: string): void {
  counts.failed++
  if (failures.length < TOLD_MAX) failures.push(text)
}

const pause = (): Promise<void> => new Promise((wake) => setTimeout(wake, PAUSE_MS))

const text = (words: number): string =>
  Array.from({ length: words }, () => Math.random().toString(36).slice(2, 9)).join(' ')

function callOf(project_id: string) {
  const id = randomUUID()
  const at = new Date().toISOString()
  const start = { id, project_id, trace_id: id, op_name: 'soak', started_at: at }
  return { ...start, attributes: {}, inputs: { question: text(40) } }
}

const ended = (): object => ({
  ended_at: new Date().toISOString(),
  output: { answer: text(20) },
  summary: {},
})

/** Each writes something, and notes it once it was acknowledged. */
const WRITES: readonly ((project: string) => Promise<void>)[] = [
  async (project) => {
    const batch = Array.from({ length: 1 + Math.floor(Math.random() * 10) }, () => ({
      ...callOf(project),
      ...ended(),
    }))
    if ((await ask(`/v2/${project}/calls/complete`, { batch })) === undefined) return
    for (const { id } of batch) {
      acknowledged.calls.add(`${project} ${id}`)
      acknowledged.ended.add(`${project} ${id}`)
    }
  },
  async (project) => {
    const start = callOf(project)
    if ((await ask('/call/start', { start })) === undefined) return
    acknowledged.calls.add(`${project} ${start.id}`)
    const end = { project_id: project, id: start.id, ...ended() }
    if ((await ask('/call/end', { end })) !== undefined) acknowledged.ended.add(`${project} ${start.id}`)
  },
  async (project) => {
    const id = randomUUID()
    const weave_ref = `weave:///${project}/call/${randomUUID()}`
    const body = { id, project_id: project, weave_ref, feedback_type: 'soak', payload: { note: text(5) } }
    if ((await ask('/feedback/create', body)) !== undefined) acknowledged.feedback.add(`${project} ${id}`)
  },
  async (project) => {
    const object_id = `object-${randomUUID()}`
    const reply = await ask('/obj/create', {
      obj: { project_id: project, object_id, val: { text: text(10) } },
    })
    if (reply !== undefined) acknowledged.objects.add(`${project} ${object_id}`)
  },
]

const READS: readonly ((project: string) => Promise<unknown>)[] = [
  (project_id) =>
    ask('/calls/stream_query', {
      project_id,
      limit: 50,
      sort_by: [{ field: 'started_at', direction: 'desc' }],
    }),
  (project_id) => ask('/calls/query_stats', { project_id }),
  (project_id) => ask('/feedback/query', { project_id, limit: 20 }),
]

async function work(client: number): Promise<void> {
  const project = PROJECTS[client % PROJECTS.length] ?? ''
  const pick = async (all: readonly ((project: string) => Promise<unknown>)[]): Promise<void> => {
    await all[Math.floor(Math.random() * all.length)]?.(project)
  }
  while (isOn) {
    await pick(WRITES)
    await pick(READS)
    await pause()
  }
}

/** Acknowledged data that is missing. */
const Calls = z.array(z.object({ id: z.string(), ended_at: z.string().nullish() }))
const Feedback = z.object({ result: z.array(z.object({ id: z.string() })) })
const Objects = z.object({ objs: z.array(z.object({ object_id: z.string() })) })

async function missing(): Promise<string[]> {
  const lost: string[] = []
  for (const project of PROJECTS) {
    const reply = (path: string, body: object): Promise<string> =>
      whole(path, { project_id: project, ...body })
    const lines = await reply('/calls/stream_query', { columns: ['id', 'ended_at'] })
    const calls = Calls.parse(
      lines
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line): unknown => JSON.parse(line)),
    )
    const { result } = Feedback.parse(JSON.parse(await reply('/feedback/query', { fields: ['id'] })))
    const { objs } = Objects.parse(JSON.parse(await reply('/objs/query', { metadata_only: true })))
    const there = {
      calls: new Set(calls.map(({ id }) => id)),
      ended: new Set(calls.flatMap(({ id, ended_at }) => (ended_at ? [id] : []))),
      feedback: new Set(result.map(({ id }) => id)),
      objects: new Set(objs.map(({ object_id }) => object_id)),
    }
    for (const kind of KINDS)
      for (const of of acknowledged[kind])
        if (of.startsWith(`${project} `) && !there[kind].has(of.slice(project.length + 1)))
          lost.push(`${kind} ${of}`)
  }
  return lost
}

/** @throws Error when there is no answer after some tries. */
async function whole(path: string, body: object): Promise<string> {
  for (let tries = 0; tries < 20; tries++) {
    const reply = await ask(path, body)
    if (reply !== undefined) return reply
    await new Promise((wake) => setTimeout(wake, 1000))
  }
  throw new Error(`${path} does not answer`)
}

async function verified(): Promise<GoodOutcome> {
  const sizes = Object.fromEntries(KINDS.map((kind) => [kind, acknowledged[kind].size]))
  return { lost: await missing(), acknowledged: sizes, counts, failures }
}

let working: Promise<void>[] = []
answerParent<GoodTask, GoodOutcome | undefined>(async (task) => {
  switch (task.kind) {
    case 'up':
      pool = new Pool(task.url, { headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX })
      isDown = false
      return undefined
    case 'down':
      isDown = true
      return undefined
    case 'start':
      working = Array.from({ length: CLIENTS }, (_, client) => work(client))
      return undefined
    case 'stop':
      isOn = false
      await Promise.all(working)
      return undefined
    case 'verify':
      return verified()
  }
})
