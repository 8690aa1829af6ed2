import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../../src/test-random.ts'
import { KEY } from './server.ts'

type Json = Record<string, unknown>

/** A result of a write: one item of a kind exists once, under a key, with these fields. */
interface Fact {
  kind: keyof typeof READERS
  key: string
  is: Json
  /** A write without which the item is not visible yet. */
  after?: Write
}

/** One request of a client, that may be repeated. */
export interface Write {
  path: string
  body: unknown
  headers?: Record<string, string>
  /** The results of the write once it was acknowledged with this reply. */
  facts: (reply: Json) => Fact[]
  reply?: Json
}

/**
 * Sends a write and records its acknowledged results.
 * @throws Error without an answer, or for another status than 200.
 */
export async function send(url: string, write: Write): Promise<void> {
  const { path, body, headers } = write
  const response = await request(url, path, body, headers)
  write.reply = (await response.json()) as Json
}

/** The server answered with another status than 200. */
export class Refused extends Error {}

/** @throws Refused */
async function request(
  url: string,
  path: string,
  body: unknown,
  headers?: Record<string, string>,
): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, ...headers },
    body: body instanceof FormData ? body : JSON.stringify(body),
  })
  if (response.status === 200) return response
  throw new Refused(`${path}: ${response.status} ${(await response.text()).slice(0, 500)}`)
}

/** Acknowledged results that are missing, changed or doubled. @throws Refused when one cannot be read. */
export async function lossesOf(url: string, project: string, writes: readonly Write[]): Promise<string[]> {
  const facts = writes
    .flatMap((write) => (write.reply === undefined ? [] : write.facts(write.reply)))
    .filter((fact) => fact.after === undefined || fact.after.reply !== undefined)
  const losses: string[] = []
  for (const [kind, ofKind] of Map.groupBy(facts, (fact) => fact.kind)) {
    const keys = [...new Set(ofKind.map((fact) => fact.key))]
    const found = Map.groupBy(await READERS[kind](url, project, keys), ([key]) => key)
    for (const { key, is } of ofKind) {
      const [first, ...doubles] = found.get(key) ?? []
      if (first === undefined) losses.push(`${kind} ${key} is lost`)
      else if (doubles.length > 0) losses.push(`${kind} ${key} is there ${doubles.length + 1} times`)
      else {
        const wrong = Object.keys(is).filter((field) => !isDeepStrictEqual(first[1][field], is[field]))
        if (wrong.length > 0) losses.push(`${kind} ${key} has another ${wrong.join(', ')}`)
      }
    }
  }
  return losses
}

type Read = (url: string, project: string, keys: readonly string[]) => Promise<[string, Json][]>

const READERS = {
  call: (url, project) => rows(url, '/calls/stream_query', { project_id: project }, 'id'),
  feedback: (url, project) => rows(url, '/feedback/query', { project_id: project }, 'id'),
  object: (url, project) => rows(url, '/objs/query', { project_id: project }, 'object_id'),
  cost: (url, project) => rows(url, '/cost/query', { project_id: project }, 'id'),
  table: (url, project, keys) =>
    each(keys, async (digest) => {
      const reply = await request(url, '/table/query', { project_id: project, digest })
      const read = (await reply.json()) as { rows: { val: Json }[] }
      return { rows: read.rows.map(({ val }) => val) }
    }),
  file: (url, project, keys) =>
    each(keys, async (digest) => ({
      text: await (await request(url, '/file/content', { project_id: project, digest })).text(),
    })),
} as const satisfies Record<string, Read>

/** The server refuses reads of a project of which hundreds wait already. */
const READS_AT_ONCE = 16

async function each(
  keys: readonly string[],
  read: (key: string) => Promise<Json>,
): Promise<[string, Json][]> {
  const left = keys.values()
  const found: [string, Json][] = []
  async function readRest(): Promise<void> {
    for (const key of left) found.push([key, await read(key)])
  }
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readRest))
  return found
}

/** All rows of a project, whether the reply is a list or has one a line. */
async function rows(url: string, path: string, body: Json, key: string): Promise<[string, Json][]> {
  const reply = await request(url, path, body)
  const text = await reply.text()
  const isLines = reply.headers.get('content-type')?.includes('jsonl')
  const read = isLines ? linesOf(text) : Object.values(JSON.parse(text) as Json).find(Array.isArray)
  return ((read ?? []) as Json[]).map((row) => [String(row[key]), row])
}

export function linesOf(text: string): Json[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json)
}

/** Every kind of writer: each makes the requests of one small task, which the caller may reorder. */
export function writersOf(project: string, random: Random): Record<string, () => Write[]> {
  const id = () => uuid(random)
  const text = () => 'x'.repeat(Math.floor(random() * 200)) + id()

  function started() {
    const call = { id: id(), trace_id: id(), op_name: `op-${text()}`.slice(0, 128), started_at: time(random) }
    return { ...call, project_id: project, attributes: { a: text() }, inputs: { i: text() } }
  }

  function ended(call: ReturnType<typeof started>) {
    const { trace_id } = call
    return {
      project_id: project,
      id: call.id,
      trace_id,
      ended_at: time(random),
      output: { o: text() },
      summary: {},
    }
  }

  /** Two requests, one with starts and one with ends of the same calls. */
  function parts(
    count: number,
    wrap: (starts: Json[], ends: Json[]) => [Omit<Write, 'facts'>, Omit<Write, 'facts'>],
  ) {
    const starts = Array.from({ length: count }, started)
    const ends = starts.map(ended)
    const [start, end] = wrap(starts, ends)
    const first: Write = {
      ...start,
      facts: () => starts.map(({ id: key, inputs, op_name }) => fact('call', key, { inputs, op_name })),
    }
    const second: Write = {
      ...end,
      facts: () => ends.map(({ id: key, output }) => ({ ...fact('call', key, { output }), after: first })),
    }
    return [first, second]
  }

  return {
    'calls/complete': () => {
      const batch = Array.from({ length: 1 + Math.floor(random() * 20) }, () => {
        const call = started()
        return { ...call, ...ended(call) }
      })
      const facts = () =>
        batch.map(({ id: key, inputs, output, op_name }) => fact('call', key, { inputs, output, op_name }))
      return [{ path: `/v2/${project}/calls/complete`, body: { batch }, facts }]
    },
    upsert_batch: () =>
      parts(1 + Math.floor(random() * 10), (starts, ends) => [
        {
          path: '/call/upsert_batch',
          body: { batch: starts.map((start) => ({ mode: 'start', req: { start } })) },
        },
        { path: '/call/upsert_batch', body: { batch: ends.map((end) => ({ mode: 'end', req: { end } })) } },
      ]),
    'v2 start and end': () =>
      parts(1, ([start], [end]) => [
        { path: `/v2/${project}/call/start`, body: { start } },
        { path: `/v2/${project}/call/end`, body: { end } },
      ]),
    otlp: () => {
      const spans = Array.from({ length: 1 + Math.floor(random() * 5) }, () => ({
        traceId: hex(random, 16),
        spanId: hex(random, 8),
        name: `span-${text()}`,
        startTimeUnixNano: '1767225600000000000',
        endTimeUnixNano: '1767225601000000000',
      }))
      return [
        {
          path: '/otel/v1/traces',
          headers: { 'content-type': 'application/json', project_id: project },
          body: { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans }] }] },
          facts: () => spans.map(({ spanId, traceId }) => fact('call', spanId, { trace_id: traceId })),
        },
      ]
    },
    object: () => {
      const obj = { project_id: project, object_id: `o-${id()}`, val: { v: text() } }
      return [
        {
          path: '/obj/create',
          body: { obj },
          facts: () => [fact('object', obj.object_id, { val: obj.val })],
        },
      ]
    },
    table: () => {
      const table = {
        project_id: project,
        rows: Array.from({ length: 20 }, (_, row) => ({ row, v: text() })),
      }
      const facts = ({ digest }: Json) => [fact('table', String(digest), { rows: table.rows })]
      return [{ path: '/table/create', body: { table }, facts }]
    },
    feedback: () => {
      const batch = Array.from({ length: 3 }, () => ({
        project_id: project,
        id: id(),
        weave_ref: `weave:///${project}/call/${id()}`,
        feedback_type: 'custom',
        payload: { p: text() },
      }))
      const [single, ...others] = batch.map((body) => ({
        body,
        fact: fact('feedback', body.id, { payload: body.payload, weave_ref: body.weave_ref }),
      }))
      if (single === undefined) return []
      return [
        { path: '/feedback/create', body: single.body, facts: () => [single.fact] },
        {
          path: '/feedback/batch/create',
          body: { batch: others.map(({ body }) => body) },
          facts: () => others.map((other) => other.fact),
        },
      ]
    },
    file: () => {
      const content = text()
      const body = new FormData()
      body.set('project_id', project)
      body.set('file', new Blob([content]), 'file.txt')
      return [
        {
          path: '/file/create',
          body,
          facts: ({ digest }) => [fact('file', String(digest), { text: content })],
        },
      ]
    },
    cost: () => {
      const price = { prompt_token_cost: random(), completion_token_cost: random() }
      const body = { project_id: project, costs: { [`model-${id()}`]: price } }
      const facts = ({ ids }: Json) => (ids as [string, string][]).map(([key]) => fact('cost', key, price))
      return [{ path: '/cost/create', body, facts }]
    },
  }
}

function fact(kind: Fact['kind'], key: string, is: Json): Fact {
  return { kind, key, is }
}

function time(random: Random): string {
  return new Date(1.77e12 + Math.floor(random() * 1e9)).toISOString()
}

function hex(random: Random, bytes: number): string {
  return Array.from({ length: bytes }, () =>
    Math.floor(random() * 256)
      .toString(16)
      .padStart(2, '0'),
  ).join('')
}

function uuid(random: Random): string {
  const digits = hex(random, 16)
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join('-')
}

/** A seed for a run that names none. */
export function newSeed(): number {
  return randomBytes(4).readUInt32LE()
}
