/** Hostile requests, one kind after the other; a process of its own. The server's replies are counted by kind. */
import { randomBytes, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { JSON_HEADERS, KEY } from '../../scripts/own-server.ts'
import { answerParent, tellParent } from '../child.ts'

export type HostileTask = { kind: 'up'; url: string } | { kind: 'down' | 'start' | 'stop' }

/** How often each kind of request was answered with each status, or how else it ended. */
export type Answers = Record<string, Record<string, number>>

const PROJECT = 'soak/hostile'

const ANSWER_MS_MAX = 60_000

/** Sockets that announce a body and send one byte of it. */
const SOCKETS = 200
const SOCKETS_MS = 5_000

let url: string | undefined
let isOn = true
const answers: Answers = {}

async function send(
  kind: string,
  path: string,
  body: object | string | Buffer<ArrayBuffer>,
  { signal, ...init }: { signal?: AbortSignal; headers?: Record<string, string> } = {},
): Promise<string> {
  const deadline = AbortSignal.timeout(ANSWER_MS_MAX)
  const request = {
    method: 'POST',
    headers: JSON_HEADERS,
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    ...init,
  }
  try {
    const reply = await fetch(`${url}${path}`, {
      ...request,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    })
    const text = await reply.text()
    const isForNow = reply.status !== 503 || reply.headers.has('retry-after')
    note(kind, isForNow ? String(reply.status) : '503 without a time')
    return text
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    note(kind, signal?.aborted ? 'left' : isTimeout ? 'no answer' : 'cut')
    return ''
  }
}

function note(kind: string, status: string): void {
  const counts = answers[kind] ?? {}
  counts[status] = (counts[status] ?? 0) + 1
  answers[kind] = counts
}

const each = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index))
const field = { $getField: 'inputs.text' }
const query = ($expr: object): object => ({ project_id: PROJECT, query: { $expr } })
const search = (text: string): object => ({ $contains: { input: field, substr: { $literal: text } } })

/** A finished call; resolves with its id. */
async function written(output: unknown, inputs = {}): Promise<string> {
  const id = randomUUID()
  const at = new Date().toISOString()
  const call = { id, project_id: PROJECT, trace_id: id, op_name: 'x', started_at: at, ended_at: at }
  const batch = [{ ...call, attributes: {}, inputs, output, summary: {} }]
  await send('a call of its own', `/v2/${PROJECT}/calls/complete`, { batch })
  return id
}

const Created = z.object({ digest: z.string().optional() })

async function score(
  kind: string,
  output: unknown,
  scorer: { _class_name: string; [field: string]: unknown },
  inputs = {},
): Promise<void> {
  const val = { _type: scorer._class_name, _bases: ['Scorer', 'Object', 'BaseModel'], ...scorer }
  const object_id = `scorer-${randomUUID()}`
  const reply = await send(kind, '/obj/create', { obj: { project_id: PROJECT, object_id, val } })
  const { digest } = Created.parse(JSON.parse(reply || '{}'))
  const call_ids = [await written(output, inputs)]
  const scorer_refs = [`weave:///${PROJECT}/object/${object_id}:${digest}`]
  await send(kind, '/calls/score', { project_id: PROJECT, call_ids, scorer_refs })
}

const KINDS: Record<string, (kind: string) => Promise<unknown>> = {
  'a pattern without end': (kind) => {
    const json_schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
    return score(kind, { a: `${'a'.repeat(45)}!` }, { _class_name: 'JSONSchemaScorer', json_schema })
  },
  'the similarity of long texts': (kind) =>
    score(
      kind,
      randomBytes(50_000).toString('hex'),
      { _class_name: 'SimilarityScorer' },
      {
        target: randomBytes(50_000).toString('hex'),
      },
    ),
  'a foreign page': (kind) =>
    send(
      kind,
      '/calls/query_stats',
      { project_id: PROJECT },
      { headers: { ...JSON_HEADERS, origin: 'http://evil.example' } },
    ),
  'idle sockets': idleSockets,
  'a list of 100,000 values': (kind) =>
    send(
      kind,
      '/calls/query_stats',
      query({ $in: [field, each(100_000, (index) => ({ $literal: `text ${index}` }))] }),
    ),
  'a list of 50,000 values': (kind) =>
    send(
      kind,
      '/calls/query_stats',
      query({ $in: [field, each(50_000, (index) => ({ $literal: `text ${index}` }))] }),
    ),
  '1,990 conditions': (kind) =>
    send(kind, '/calls/query_stats', query({ $and: each(1990, (index) => search(`x${index}`)) })),
  '240 conditions': (kind) =>
    send(kind, '/calls/query_stats', query({ $or: each(240, (index) => search(`x${index}`)) })),
  'searches whose client leaves': (kind) =>
    Promise.all(
      each(10, (index) =>
        send(kind, '/calls/query_stats', query({ $or: each(100, (at) => search(`${index} ${at}`)) }), {
          signal: AbortSignal.timeout(100),
        }),
      ),
    ),
  'five million levels': (kind) =>
    send(
      kind,
      '/call/start',
      `{"start":{"project_id":"${PROJECT}","inputs":${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}}}`,
    ),
  '900,000 unknown names': (kind) =>
    send(
      kind,
      '/calls/query_stats',
      `{"project_id":"${PROJECT}",${each(900_000, (index) => `"k${index}":1`).join(',')}}`,
    ),
  'a file of the server': (kind) =>
    send(kind, '/v1/preview/sft-training-jobs', {
      model_id: randomUUID(),
      training_data_url: 'file:///etc/passwd',
    }),
  'a base model that is a path': (kind) =>
    send(kind, '/v1/preview/models', {
      entity: 'soak',
      project: 'hostile',
      name: randomUUID(),
      base_model: '/etc',
    }),
  'code of a scorer': (kind) =>
    score(kind, 'x', { _class_name: 'Mine', score: `weave:///${PROJECT}/op/nothing:v0` }),
  'a compressed bomb': (kind) =>
    send(kind, `/otel/v1/traces`, gzipSync(Buffer.alloc(200_000_000)), {
      headers: {
        ...JSON_HEADERS,
        project_id: PROJECT,
        'content-type': 'application/x-protobuf',
        'content-encoding': 'gzip',
      },
    }),
  'the deletion of what is not there': (kind) =>
    send(kind, '/calls/delete', { project_id: PROJECT, call_ids: each(1000, () => randomUUID()) }),
  'a call of 30 MB': (kind) => written('x'.repeat(30_000_000)).then(() => note(kind, 'sent')),
}

/** Each announces a megabyte and sends a byte. */
async function idleSockets(kind: string): Promise<void> {
  if (url === undefined) return
  const { hostname, port } = new URL(url)
  const sockets = each(SOCKETS, () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.write(
      `POST /calls/query_stats HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${KEY}\r\ncontent-length: 1048576\r\n\r\n{`,
    )
    return socket
  })
  await new Promise((wake) => setTimeout(wake, SOCKETS_MS))
  for (const socket of sockets) socket.destroy()
  note(kind, 'held')
}

async function round(): Promise<void> {
  for (const [kind, attack] of Object.entries(KINDS)) {
    while (url === undefined && isOn) await new Promise((wake) => setTimeout(wake, 100))
    if (!isOn) return
    tellParent(kind)
    await attack(kind)
  }
}

async function attackUntilStopped(): Promise<void> {
  isOn = true
  while (isOn) await round()
}

let attacking = Promise.resolve()
answerParent<HostileTask, Answers>(async (task) => {
  switch (task.kind) {
    case 'up':
      url = task.url
      break
    case 'down':
      url = undefined
      break
    case 'start':
      attacking = attackUntilStopped()
      break
    case 'stop':
      isOn = false
      await attacking
      break
  }
  return answers
})
