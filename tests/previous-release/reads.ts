import { KEY } from '../wire/server.ts'
import { answerOf, type Read } from './archive.ts'

type Fields = Record<string, unknown>

/** Asks one question. @throws Error for an answer other than 200. */
type Ask = (method: string, path: string, body?: object) => Promise<unknown>

/** Tables and files, which no list has. */
export interface Digests {
  tables: { project_id: string; digest: string }[]
  files: { project_id: string; digest: string }[]
}

/** The project of everything but traces. */
export const TRAINING_PROJECT = 'release'

/** Lists of a project. */
const LISTS: readonly (readonly [path: string, fields: Fields])[] = [
  ['/calls/stream_query', { include_feedback: true, include_costs: true }],
  ['/calls/query_stats', { include_total_storage_size: true }],
  ['/feedback/query', { sort_by: [{ field: 'id', direction: 'asc' }] }],
  ['/objs/query', { include_tags_and_aliases: true }],
  ['/cost/query', { sort_by: [{ field: 'id', direction: 'asc' }] }],
  ['/annotation_queues/query', {}],
  ['/threads/stream_query', { sort_by: [{ field: 'thread_id', direction: 'asc' }] }],
]

const V2_GROUPS = [
  'ops',
  'datasets',
  'scorers',
  'models',
  'evaluations',
  'evaluation_runs',
  'predictions',
  'scores',
]

/** Reads everything that a server has of these projects, and all of its training; each question with its answer. */
export async function readAll(url: string, projects: readonly string[], digests: Digests): Promise<Read[]> {
  const reads: Read[] = []

  async function ask(method: string, path: string, body?: object): Promise<unknown> {
    const headers = { authorization: `Bearer ${KEY}` }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url + path, { method, headers, ...sent })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    const answer = answerOf(text, response.headers.get('content-type'))
    reads.push({ method, path, ...(body !== undefined && { body }), answer })
    return answer
  }

  for (const project of projects) await readTraces(ask, project)
  for (const table of digests.tables) await ask('POST', '/table/query', table)
  for (const file of digests.files) await ask('POST', '/file/content', file)
  await readModels(ask)
  await readTracking(ask)
  return reads
}

async function readTraces(ask: Ask, project_id: string): Promise<void> {
  for (const [path, fields] of LISTS) await ask('POST', path, { project_id, ...fields })
  for (const group of V2_GROUPS) await ask('GET', `/v2/${project_id}/${group}`)
  for (const list of ['tags', 'aliases'])
    await ask('GET', `/${list}?project_id=${encodeURIComponent(project_id)}`)
  const queues = (await ask('POST', '/annotation_queues/query', { project_id })) as Fields[]
  for (const { id } of queues)
    await ask('POST', `/annotation_queues/${String(id)}/items/query`, { project_id })
}

async function readModels(ask: Ask): Promise<void> {
  for (const model of await pageOf(ask, '/v1/preview/models')) {
    const path = `/v1/preview/models/${String(model['id'])}/checkpoints`
    for (const { step } of await pageOf(ask, path)) {
      const { files } = (await ask('GET', `${path}/${String(step)}`)) as { files: Fields[] }
      for (const { name } of files) await ask('GET', `${path}/${String(step)}/files/${String(name)}`)
    }
  }
  for (const { id } of await pageOf(ask, '/v1/preview/training-jobs'))
    await ask('GET', `/v1/preview/training-jobs/${String(id)}/events?limit=100`)
  // A range of its own, since the default follows the clock.
  const range = 'from=2026-01-01T00:00:00Z&before=2100-01-01T00:00:00Z'
  await ask('GET', `/v1/usage?group_by=project,model,step,key,hour&${range}`)
}

async function readTracking(ask: Ask): Promise<void> {
  const named = `entity=local&project=${TRAINING_PROJECT}`
  for (const { run } of await pageOf(ask, `/v1/preview/runs?${named}`)) {
    const path = `/v1/preview/runs/local/${TRAINING_PROJECT}/${String(run)}`
    await ask('GET', path)
    await ask('GET', `${path}/metrics?keys=loss`)
  }
  for (const { id, files } of await pageOf(ask, `/v1/preview/artifacts?${named}`))
    for (const { name } of files as Fields[])
      await ask('GET', `/v1/preview/artifacts/${String(id)}/files/${String(name)}`)
}

/** The first page of a list; there are no more of these things than it has. */
async function pageOf(ask: Ask, path: string): Promise<Fields[]> {
  return ((await ask('GET', path)) as { data: Fields[] }).data
}
