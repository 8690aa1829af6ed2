import { expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { documentsOf, type Fields, replyOf, type TestServer, useTestServer } from '../../testing.ts'

export const EVALUATION = 'weave:///test/p/object/evaluation:abc'
export const MODEL = 'weave:///test/p/object/small:abc'
export const SCORER = 'weave:///test/p/object/exact:abc'

type Plural = 'evaluation_runs' | 'predictions' | 'scores'
const IDS = {
  evaluation_runs: 'evaluation_run_id',
  predictions: 'prediction_id',
  scores: 'score_id',
} as const

/** A server for one test file, and what tests of evaluation runs send to it. */
export function useEvaluations() {
  const server = useTestServer()

  async function create(project: string, group: Plural, body: Fields): Promise<string> {
    return String((await replyOf(await server.post(`/v2/${project}/${group}`, body)))[IDS[group]])
  }

  const newRun = (project: string, fields: Fields = {}) =>
    create(project, 'evaluation_runs', { evaluation: EVALUATION, model: MODEL, ...fields })
  const predict = (project: string, fields: Fields = {}) =>
    create(project, 'predictions', { model: MODEL, inputs: { n: 1 }, output: 2, ...fields })
  const score = (project: string, prediction_id: string, fields: Fields = {}) =>
    create(project, 'scores', { prediction_id, scorer: SCORER, value: 0.5, ...fields })

  const request = (project: string, path: string) => server.request(`/v2/${project}/${path}`)
  const read = async (project: string, group: Plural, id: string) =>
    replyOf(await request(project, `${group}/${id}`))
  const list = async (project: string, group: Plural, query = '') =>
    documentsOf<Fields>(await request(project, `${group}${query}`))
  const finish = (project: string, group: Plural, id: string, body: Fields = {}) =>
    server.post(`/v2/${project}/${group}/${id}/finish`, body)
  const remove = (project: string, group: Plural, query: string) =>
    server.request(`/v2/${project}/${group}?${query}`, { method: 'DELETE' })

  async function calls(project_id: string, filter: Fields = {}): Promise<Fields[]> {
    return documentsOf<Fields>(await server.post('/calls/stream_query', { project_id, filter }))
  }

  async function callOf(project: string, id: string): Promise<Fields> {
    const [call] = await calls(project, { call_ids: [id] })
    if (call === undefined) throw new Error('There is no such call')
    return call
  }

  const feedbackIn = async (project_id: string) =>
    (await replyOf<{ result: Fields[] }>(await server.post('/feedback/query', { project_id }))).result

  const newScore = async (project: string) => score(project, await predict(project))

  const requests = {
    server,
    newRun,
    predict,
    score,
    request,
    read,
    list,
    finish,
    remove,
    calls,
    callOf,
    feedbackIn,
    newScore,
  }
  return { ...requests, ...groupTests(requests) }
}

interface GroupRequests {
  server: TestServer
  request(project: string, path: string): Promise<Response>
  list(project: string, group: Plural, query?: string): Promise<Fields[]>
  remove(project: string, group: Plural, query: string): Promise<Response>
}

/** Tests that hold for every group. */
function groupTests({ server, request, list, remove }: GroupRequests) {
  function itRefuses(group: Plural, wrong: readonly Fields[]): void {
    it('422 for wrong types', async () => {
      for (const body of wrong) {
        const response = await server.post(`/v2/${server.newProject()}/${group}`, body)
        expect(response.status, JSON.stringify(body)).toBe(422)
      }
    })
  }

  function itLists(group: Plural, make: (project: string) => Promise<string>): void {
    it('200 with those of the project in the order of their creation, by pages', async () => {
      const project = server.newProject()
      expect(await list(project, group)).toEqual([])
      const ids = [await make(project), await make(project), await make(project)]
      expect((await list(project, group)).map((one) => one[IDS[group]])).toEqual(ids)
      expect(await list(project, group, '?limit=1&offset=1')).toMatchObject([{ [IDS[group]]: ids[1] }])
      expect(await list(server.newProject(), group)).toEqual([])
    })

    it('400 and 422 for invalid pages', async () => {
      const statusOf = async (query: string) =>
        (await request(server.newProject(), `${group}?${query}`)).status
      expect([await statusOf('limit=-1'), await statusOf('limit=x')]).toEqual([400, 422])
    })
  }

  function itReads(group: Plural, make: (project: string) => Promise<string>): void {
    it('404 for an id that is unknown, deleted, of another kind or of another project', async () => {
      const project = server.newProject()
      const id = await make(project)
      const statusOf = async (project: string, id: string) =>
        (await request(project, `${group}/${id}`)).status
      const { id: other } = await replyOf(
        await server.post('/call/start', {
          start: { project_id: project, op_name: 'op', started_at: '2026-01-01', attributes: {}, inputs: {} },
        }),
      )
      expect(await statusOf(project, id)).toBe(200)
      expect(await statusOf(project, newId())).toBe(404)
      expect(await statusOf(project, 'nobody')).toBe(404)
      expect(await statusOf(project, String(other))).toBe(404)
      expect(await statusOf(server.newProject(), id)).toBe(404)
      expect((await remove(project, group, `${IDS[group]}s=${id}`)).status).toBe(200)
      expect(await statusOf(project, id)).toBe(404)
    })
  }

  function itDeletes(group: Plural, make: (project: string) => Promise<string>): void {
    it('200 with the existing ones of the kind, once; 422 without ids', async () => {
      const project = server.newProject()
      const ids = [await make(project), await make(project), await make(project)]
      const query = ids.slice(0, 2).map((id) => `${IDS[group]}s=${id}`)
      const deletion = `${query.join('&')}&${IDS[group]}s=${newId()}`
      expect(await replyOf(await remove(server.newProject(), group, deletion))).toEqual({ num_deleted: 0 })
      expect(await replyOf(await remove(project, group, deletion))).toEqual({ num_deleted: 2 })
      expect(await replyOf(await remove(project, group, deletion))).toEqual({ num_deleted: 0 })
      expect((await list(project, group)).map((one) => one[IDS[group]])).toEqual([ids[2]])
      expect((await remove(project, group, '')).status).toBe(422)
    })
  }

  return { itRefuses, itLists, itReads, itDeletes }
}
