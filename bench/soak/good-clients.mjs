/**
 * Correct clients: they write calls, halves of calls, feedback and objects, read them again, and remember what was
 * acknowledged. A process of its own; the parent sends it the server's address and the times of kills.
 */
import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { KEY } from '../../scripts/own-server.ts'

const CLIENTS = 6

const PAUSE_MS = 30

/** A read that takes longer is useless to its client. */
const ANSWER_MS_MAX = 60_000

const PROJECTS = ['soak/one', 'soak/two']

/** Failures that are reported one by one. */
const TOLD_MAX = 10

/** By kind, what was acknowledged, as `project id`. */
const acknowledged = { calls: new Set(), ended: new Set(), feedback: new Set(), objects: new Set() }
const counts = { requests: 0, refused: 0, cut: 0, failed: 0 }
const failures = []
let pool
let isDown = true
let isOn = true

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }

/** The reply to a request; undefined where it was refused temporarily, or the server was killed meanwhile. */
async function ask(path, body) {
  while (isDown && isOn) await pause()
  counts.requests++
  const asked = pool
  try {
    const reply = await asked.request({ method: 'POST', path, headers, body: JSON.stringify(body) })
    const text = await reply.body.text()
    if (reply.statusCode === 200) return text
    if ([429, 503].includes(reply.statusCode) && reply.headers['retry-after'] !== undefined) counts.refused++
    else failed(`${path}: ${reply.statusCode} ${text.slice(0, 300)}`)
  } catch (error) {
    if (isDown || asked !== pool) counts.cut++
    else failed(`${path}: ${error.message}`)
  }
  return undefined
}

function failed(text) {
  counts.failed++
  if (failures.length < TOLD_MAX) failures.push(text)
}

const pause = () => new Promise((wake) => setTimeout(wake, PAUSE_MS))

const text = (words) => Array.from({ length: words }, () => Math.random().toString(36).slice(2, 9)).join(' ')

function callOf(project_id) {
  const id = randomUUID()
  const at = new Date().toISOString()
  const start = { id, project_id, trace_id: id, op_name: 'soak', started_at: at }
  return { ...start, attributes: {}, inputs: { question: text(40) } }
}

const ended = () => ({ ended_at: new Date().toISOString(), output: { answer: text(20) }, summary: {} })

/** Each writes something, and notes it once it was acknowledged. */
const WRITES = [
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

const READS = [
  (project_id) =>
    ask('/calls/stream_query', {
      project_id,
      limit: 50,
      sort_by: [{ field: 'started_at', direction: 'desc' }],
    }),
  (project_id) => ask('/calls/query_stats', { project_id }),
  (project_id) => ask('/feedback/query', { project_id, limit: 20 }),
]

async function work(client) {
  const project = PROJECTS[client % PROJECTS.length]
  const pick = (all) => all[Math.floor(Math.random() * all.length)](project)
  while (isOn) {
    await pick(WRITES)
    await pick(READS)
    await pause()
  }
}

/** Acknowledged data that is missing. */
async function missing() {
  const lost = []
  for (const project of PROJECTS) {
    const lines = async (path, body) =>
      (await whole(path, { project_id: project, ...body }))
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    const calls = await lines('/calls/stream_query', { columns: ['id', 'ended_at'] })
    const { result } = JSON.parse(await whole('/feedback/query', { project_id: project, fields: ['id'] }))
    const { objs } = JSON.parse(await whole('/objs/query', { project_id: project, metadata_only: true }))
    const there = {
      calls: new Set(calls.map(({ id }) => id)),
      ended: new Set(calls.flatMap(({ id, ended_at }) => (ended_at ? [id] : []))),
      feedback: new Set(result.map(({ id }) => id)),
      objects: new Set(objs.map(({ object_id }) => object_id)),
    }
    for (const [kind, ids] of Object.entries(acknowledged))
      for (const of of ids)
        if (of.startsWith(`${project} `) && !there[kind].has(of.slice(project.length + 1)))
          lost.push(`${kind} ${of}`)
  }
  return lost
}

/** @throws Error when there is no answer after some tries. */
async function whole(path, body) {
  for (let tries = 0; tries < 20; tries++) {
    const reply = await ask(path, body)
    if (reply !== undefined) return reply
    await new Promise((wake) => setTimeout(wake, 1000))
  }
  throw new Error(`${path} does not answer`)
}

let working = []
process.on('message', async (message) => {
  if (message.kind === 'up') {
    pool = new Pool(message.url, { headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX })
    isDown = false
  } else if (message.kind === 'down') isDown = true
  else if (message.kind === 'start') working = Array.from({ length: CLIENTS }, (_, client) => work(client))
  else if (message.kind === 'stop') {
    isOn = false
    await Promise.all(working)
  } else if (message.kind === 'verify') {
    const sizes = Object.fromEntries(Object.entries(acknowledged).map(([kind, ids]) => [kind, ids.size]))
    process.send({ lost: await missing(), acknowledged: sizes, counts, failures })
    return
  }
  process.send({})
})
process.once('disconnect', () => process.exit())
