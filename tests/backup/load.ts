import pMap from 'p-map'
import { expect } from 'vitest'
import { newId } from '../../src/ids.ts'

type Fields = Record<string, unknown>

const READERS = 16

/** One thing that was written, and its place in the order of all requests and replies. */
export interface Write {
  key: string
  sent: number
  /** Infinite until the reply is there. */
  acknowledged: number
}

/** What was written into one project; digests and ids by the keys of the writes. */
export interface Load {
  project: string
  writes: Write[]
  /** Digests of the files, by name. */
  files: Map<string, string>
  /** The next place in the order. */
  now(): number
  /**
   * Writes rounds until told to stop, and one more. Each write of a round refers to those before it, in files, the
   * trace database and the control database.
   */
  run(worker: number, isOver: () => boolean): Promise<void>
}

export function createLoad(url: string, project: string): Load {
  const writes: Write[] = []
  const files = new Map<string, string>()
  let place = 0
  const now = (): number => place++

  async function write(key: string, path: string, body: unknown): Promise<Fields> {
    const one: Write = { key, sent: now(), acknowledged: Number.POSITIVE_INFINITY }
    writes.push(one)
    const reply = await send(url, path, body)
    one.acknowledged = now()
    return reply
  }

  async function round(name: string): Promise<void> {
    const form = new FormData()
    form.set('project_id', project)
    form.set('file', new Blob([fileText(name)]), 'note.txt')
    const file = await write(`file ${name}`, '/file/create', form)
    files.set(name, String(file['digest']))
    const val = { name, file: file['digest'] }
    const object = await write(`object ${name}`, '/obj/create', {
      obj: { project_id: project, object_id: name, val },
    })
    const id = newId()
    const inputs = { name, object: `weave:///${project}/object/${name}:${object['digest']}` }
    const start = { project_id: project, id, trace_id: newId(), op_name: 'op', attributes: {}, inputs }
    await write(`start ${name}`, '/call/start', { start: { ...start, started_at: new Date().toISOString() } })
    await write(`feedback ${name}`, '/feedback/create', {
      project_id: project,
      weave_ref: `weave:///${project}/call/${id}`,
      feedback_type: 'wandb.note.1',
      payload: { note: name },
    })
    const ended_at = new Date().toISOString()
    await write(`end ${name}`, '/call/end', {
      end: { project_id: project, id, ended_at, summary: {}, output: name },
    })
    await write(`queue ${name}`, '/annotation_queues', {
      project_id: project,
      name,
      description: id,
      scorer_refs: [],
    })
  }

  return {
    project,
    writes,
    files,
    now,
    async run(worker, isOver) {
      let count = 0
      while (!isOver()) await round(`w${worker}-${count++}`)
      await round(`w${worker}-${count}`)
    },
  }
}

/** What a server has of a load: the keys of the writes, after a check of each row and file and of what it refers to. */
export async function readLoad(url: string, { project, files }: Load): Promise<Set<string>> {
  const keys = new Set<string>()
  async function readFile([name, digest]: [string, string]): Promise<void> {
    const response = await respond(url, '/file/content', { project_id: project, digest })
    if (response.status === 404) return
    expect(await response.text()).toBe(fileText(name))
    keys.add(`file ${name}`)
  }
  await pMap(files, readFile, { concurrency: READERS })
  const { objs } = await send(url, '/objs/query', { project_id: project })
  for (const { object_id, val } of objs as { object_id: string; val: Fields }[]) {
    expect(val['name']).toBe(object_id)
    expect(val['file']).toBe(files.get(object_id))
    expect(keys).toContain(`file ${object_id}`)
    keys.add(`object ${object_id}`)
  }
  const calls = new Map<string, string>()
  for (const call of (await lines(url, '/calls/stream_query', { project_id: project })) as {
    id: string
    inputs: Fields
    output: unknown
  }[]) {
    const name = String(call.inputs['name'])
    expect(keys).toContain(`object ${name}`)
    calls.set(call.id, name)
    keys.add(`start ${name}`)
    if (call.output === null) continue
    expect(call.output).toBe(name)
    keys.add(`end ${name}`)
  }
  const { result } = await send(url, '/feedback/query', { project_id: project })
  for (const { weave_ref, payload } of result as { weave_ref: string; payload: Fields }[]) {
    expect(calls.get(weave_ref.split('/').at(-1) ?? '')).toBe(payload['note'])
    keys.add(`feedback ${payload['note']}`)
  }
  const queues = await lines(url, '/annotation_queues/query', { project_id: project, limit: 100_000 })
  for (const { name, description } of queues as { name: string; description: string }[]) {
    expect(calls.get(description)).toBe(name)
    keys.add(`queue ${name}`)
  }
  return keys
}

/** Large enough to be a file of its own, and different in each. */
function fileText(name: string): string {
  return `${name} `.repeat(500)
}

function respond(url: string, path: string, body: unknown): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { authorization: 'Bearer test-key' },
    body: body instanceof FormData ? body : JSON.stringify(body),
  })
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text
}

async function send(url: string, path: string, body: unknown): Promise<Fields> {
  return JSON.parse(await textOf(await respond(url, path, body))) as Fields
}

async function lines(url: string, path: string, body: Fields): Promise<unknown[]> {
  const text = await textOf(await respond(url, path, body))
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))
}
