/** Clients of one project that send as many requests as they can, each one after the other; the parent says which. */
import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { KEY } from '../../scripts/own-server.ts'
import { answerParent } from '../child.ts'
import { completeBody, makeCalls, opRef } from '../traces/workload.ts'

/** What the parent sends: a project to be filled, a kind of flood to begin, or its end. */
export type FloodTask = { kind: 'fill' | 'stop' } | { kind: FloodKind; flooders: number }
export type FloodKind = 'writes' | 'reads' | 'both'

/** The requests of a flood. */
export interface FloodCounts {
  done: number
  refused: number
}

const PROJECT = 'flood/project'

/** Calls that are there before: enough that a search has to read for a while. */
const CALLS = 20_000

/** Calls of one write, some 2 kB each. */
const BATCH = 200

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
const [, , url = ''] = process.argv
const pool = new Pool(url, { pipelining: 1, headersTimeout: 300_000, bodyTimeout: 300_000 })
const calls = [...makeCalls(CALLS)]
let counts: FloodCounts = { done: 0, refused: 0 }
let number = 0
let isOn = false
let running: Promise<void>[] = []

async function send(path: string, body: string): Promise<void> {
  const reply = await pool.request({ method: 'POST', path, headers, body })
  await reply.body.dump({ limit: Number.POSITIVE_INFINITY })
  if (reply.statusCode === 200) counts.done++
  else if (reply.statusCode === 503 || reply.statusCode === 429) counts.refused++
  else throw new Error(`${path}: ${reply.statusCode}`)
}

/** Replaced in the ids of a body when it is sent, so that sending costs the machine little. */
const TOKEN = 'ffffffff'

const bodies = Array.from({ length: 50 }, (_, body) => {
  const batch = calls.slice(body * BATCH, (body + 1) * BATCH)
  return completeBody(
    PROJECT,
    batch.map((call) => ({ ...call, id: `${TOKEN}${randomUUID().slice(8)}` })),
  )
})

function write(): Promise<void> {
  const body = pick(bodies, number).replaceAll(TOKEN, (number++).toString(16).padStart(8, '0'))
  return send(`/v2/${PROJECT}/calls/complete`, body)
}

function pick<Item>(items: readonly Item[], at: number): Item {
  const item = items[at % items.length]
  if (item === undefined) throw new Error('There is nothing to pick')
  return item
}

/** A long list, a search through all payloads, and a count, none of them twice. */
const QUESTIONS = [
  () => ({
    limit: 500,
    offset: (number * 97) % 15_000,
    filter: { op_names: [opRef(PROJECT, `op${number % 37}`)] },
  }),
  () => ({ limit: 50, query: contains(`${pick(calls, number).prompt.slice(3, 15)} ${number}`) }),
  () => ({
    limit: 1000,
    offset: (number * 131) % 15_000,
    sort_by: [{ field: 'inputs.k', direction: 'desc' }],
  }),
]

const contains = (text: string): object => ({
  $expr: {
    $contains: { input: { $getField: 'output.choices.0.message.content' }, substr: { $literal: text } },
  },
})

function read(): Promise<void> {
  const question = pick(QUESTIONS, number++)()
  return send('/calls/stream_query', JSON.stringify({ project_id: PROJECT, ...question }))
}

const KINDS: Record<FloodKind, (flooder: number) => () => Promise<void>> = {
  writes: () => write,
  reads: () => read,
  both: (flooder) => (flooder % 2 ? write : read),
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
    for (let from = 0; from < CALLS; from += 500)
      await send(`/v2/${PROJECT}/calls/complete`, completeBody(PROJECT, calls.slice(from, from + 500)))
  } else {
    isOn = false
    await Promise.all(running)
  }
  return counts
})
