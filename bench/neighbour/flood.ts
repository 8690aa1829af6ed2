/**
 * Clients of one or several projects of an entity that send as many requests as they can, each one after the other; the
 * parent says which.
 */
import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { JSON_HEADERS } from '../../scripts/own-server.ts'
import { answerParent } from '../child.ts'
import { completeBody, makeCalls, opRef } from '../traces/workload.ts'

/** What the parent sends: a project to be filled, a kind of flood to begin, or its end. */
export type FloodTask = { kind: 'fill' | 'stop' } | { kind: FloodKind; flooders: number }
export type FloodKind = 'writes' | 'reads' | 'both' | 'jobs'

/** The requests of a flood. */
export interface FloodCounts {
  done: number
  refused: number
}

/** Calls that are there before, in all projects together: enough that a search has to read for a while. */
const CALLS = 20_000

/** Calls of one write, some 2 kB each. */
const BATCH = 200

const [, , url = '', count = '1'] = process.argv
const projects = Array.from({ length: Number(count) }, (_, project) => `flood/project${project}`)
const pool = new Pool(url, { pipelining: 1, headersTimeout: 300_000, bodyTimeout: 300_000 })
const calls = [...makeCalls(CALLS)]
let counts: FloodCounts = { done: 0, refused: 0 }
let number = 0
let isOn = false
let running: Promise<void>[] = []

async function send(path: string, body: string): Promise<unknown> {
  const reply = await pool.request({ method: 'POST', path, headers: JSON_HEADERS, body })
  const text = await reply.body.text()
  if (reply.statusCode === 200) counts.done++
  else if (reply.statusCode === 503 || reply.statusCode === 429) counts.refused++
  else throw new Error(`${path}: ${reply.statusCode}`)
  return text
}

/** Replaced in the ids of a body when it is sent, so that sending costs the machine little. */
const TOKEN = 'ffffffff'

const bodies = Array.from({ length: 50 }, (_, body) => {
  const batch = calls.slice(body * BATCH, (body + 1) * BATCH)
  const project = pick(projects, body)
  const fresh = batch.map((call) => ({ ...call, id: `${TOKEN}${randomUUID().slice(8)}` }))
  return { path: `/v2/${project}/calls/complete`, body: completeBody(project, fresh) }
})

async function write(): Promise<void> {
  const { path, body } = pick(bodies, number)
  await send(path, body.replaceAll(TOKEN, (number++).toString(16).padStart(8, '0')))
}

function pick<Item>(items: readonly Item[], at: number): Item {
  const item = items[at % items.length]
  if (item === undefined) throw new Error('There is nothing to pick')
  return item
}

/** Some pages are the last ones of a project. */
const OFFSET_MAX = Math.floor((CALLS / projects.length) * 0.75)

/** A long list, a search through all payloads, and a count, none of them twice. */
const QUESTIONS = [
  (project: string) => ({
    limit: 500,
    offset: (number * 97) % OFFSET_MAX,
    filter: { op_names: [opRef(project, `op${number % 37}`)] },
  }),
  () => ({ limit: 50, query: contains(`${pick(calls, number).prompt.slice(3, 15)} ${number}`) }),
  () => ({
    limit: 1000,
    offset: (number * 131) % OFFSET_MAX,
    sort_by: [{ field: 'inputs.k', direction: 'desc' }],
  }),
]

const contains = (text: string): object => ({
  $expr: {
    $contains: { input: { $getField: 'output.choices.0.message.content' }, substr: { $literal: text } },
  },
})

async function read(): Promise<void> {
  const project_id = pick(projects, number)
  const question = pick(QUESTIONS, number++)(project_id)
  await send('/calls/stream_query', JSON.stringify({ project_id, ...question }))
}

/** Scores that one request asks for. */
const SCORED = 50

/** Published in each project before the jobs that use it. */
const SCORER = {
  _type: 'ValidJSONScorer',
  _class_name: 'ValidJSONScorer',
  _bases: ['Scorer', 'Object', 'BaseModel'],
}
const scorers = new Map<string, string>()

async function scorerOf(project_id: string): Promise<string> {
  const obj = { project_id, object_id: 'scorer', val: SCORER }
  const reply = String(await send('/obj/create', JSON.stringify({ obj })))
  const { digest } = JSON.parse(reply) as { digest: string }
  return `weave:///${project_id}/object/scorer:${digest}`
}

async function score(): Promise<void> {
  const at = number++ % projects.length
  const project_id = pick(projects, at)
  const ref = scorers.get(project_id) ?? (await scorerOf(project_id))
  scorers.set(project_id, ref)
  const call_ids = callsOf(at)
    .slice(0, SCORED)
    .map(({ id }) => id)
  await send('/calls/score', JSON.stringify({ project_id, call_ids, scorer_refs: [ref] }))
}

/** What a project is filled with. */
function callsOf(project: number): typeof calls {
  const share = Math.floor(CALLS / projects.length)
  return calls.slice(project * share, (project + 1) * share)
}

const KINDS: Record<FloodKind, (flooder: number) => () => Promise<void>> = {
  writes: () => write,
  reads: () => read,
  both: (flooder) => (flooder % 2 ? write : read),
  jobs: () => score,
}

async function flood(ask: () => Promise<void>): Promise<void> {
  while (isOn) await ask()
}

answerParent<FloodTask, FloodCounts>(async (task) => {
  if ('flooders' in task) {
    counts = { done: 0, refused: 0 }
    isOn = true
    running = Array.from({ length: task.flooders }, (_, flooder) => flood(KINDS[task.kind](flooder)))
  } else if (task.kind === 'fill') {
    for (const [at, project] of projects.entries())
      for (let from = 0; from < callsOf(at).length; from += 500) {
        const batch = callsOf(at).slice(from, from + 500)
        await send(`/v2/${project}/calls/complete`, completeBody(project, batch))
      }
  } else {
    isOn = false
    await Promise.all(running)
  }
  return counts
})
