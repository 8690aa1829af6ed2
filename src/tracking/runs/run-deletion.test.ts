import { describe, expect, it } from 'vitest'
import { createProjects } from '../../accounts/projects.ts'
import { createContents } from '../../contents/service.ts'
import { newId } from '../../ids.ts'
import { SILENT } from '../../test-log.ts'
import { useTestServer } from '../../testing.ts'
import { createSignedUrls } from '../signed-urls.ts'
import { createTestClient } from '../test-client.ts'
import { createRunClient } from './run-client.ts'
import { createRuns, type Runs } from './service.ts'

const YEAR_MS = 365 * 86_400_000

const server = useTestServer()
const client = createTestClient(server)
const { start, stream, history, runOf } = createRunClient(server, client)

/** Runs whose metrics can be deleted, or not. */
function runsWith({ traces }: Pick<typeof server.stores, 'traces'>): Runs {
  const { control, blobs } = server.stores
  const contents = createContents({ control, blobs })
  const signedUrls = createSignedUrls(server.stores)
  const projects = createProjects({ control })
  return createRuns({ control, traces, contents, projects, signedUrls, log: SILENT })
}

async function upload(project: string, name: string, body: string): Promise<void> {
  const { files } = await client.mutate('createRunFiles', 'files { uploadUrl }', {
    ...{ entityName: 'test', projectName: project.slice(5), runName: 'r', files: [name] },
  })
  expect((await client.follow(files[0].uploadUrl, { method: 'PUT', body })).status).toBe(200)
}

async function owners(): Promise<string[]> {
  const rows = await server.stores.control.selectFrom('content_owners').select('owner').execute()
  return rows.map(({ owner }) => owner)
}

describe('createRuns', () => {
  it('keeps a run whose metrics cannot be deleted, until its deletion is repeated', async () => {
    const project = server.newProject()
    await start(project, 'r')
    await stream(project, 'r', history(0, [{ _step: 0, v: 1 }]))
    await upload(project, 'a', 'x')
    const { traces } = server.stores
    const failing = runsWith({
      traces: { ...traces, command: () => Promise.reject(new Error('no database')) },
    })
    const name = { entity: 'test', project: project.slice(5), run: 'r' }
    await expect(failing.delete(name)).rejects.toThrow('no database')
    expect(await runOf(project, 'r', 'historyLineCount')).toEqual({ historyLineCount: 1 })
    const run = await failing.find(name)
    const key = { project_id: project, run_id: run?.id ?? '' }
    expect(await failing.metrics.keys(key, 'history')).toHaveLength(1)
    const { metrics, ...runs } = runsWith({ traces })
    expect(await runs.delete(name)).toBe(true)
    expect(await metrics.keys(key, 'history')).toEqual([])
    expect(await runs.find(name)).toBeUndefined()
  })

  it('releases bytes of files that were replaced when the server ended, and no others', async () => {
    const project = server.newProject()
    await start(project, 'r')
    await upload(project, 'a', 'kept')
    const runs = runsWith(server.stores)
    const row = await runs.find({ entity: 'test', project: project.slice(5), run: 'r' })
    const page = { run_id: row?.id ?? '', names: [], pattern: undefined, after: '', limit: 10 }
    const files = await runs.pageOfFiles(page)
    const contents = createContents(server.stores)
    const left = `run-file:${newId()}`
    await contents.add(left, new Blob(['replaced']).stream(), { bytesMax: 100 })
    await runs.cleanUp(Date.now() - 60_000)
    expect(await owners()).toContain(left)
    // Ids rise, also where another test of this process has made some of later days.
    await runs.cleanUp(Date.now() + YEAR_MS)
    expect(await owners()).not.toContain(left)
    expect(await owners()).toEqual(expect.arrayContaining(files.map((file) => file.owner)))
    expect(files).toHaveLength(1)
  })
})

describe('POST /graphql, deleteFiles', () => {
  it('200 for files of runs, with their bytes; absent ones change nothing, and ids of other things are errors', async () => {
    const project = server.newProject()
    await start(project, 'r')
    for (const name of ['a:b', 'c']) await upload(project, name, `${project} ${name}`)
    const before = await owners()
    const shown = async (): Promise<{ id: string; name: string }[]> => {
      const { files } = await runOf(project, 'r', 'files { edges { node { id name } } }')
      return files.edges.map(({ node }: { node: { id: string; name: string } }) => node)
    }
    const [first, second] = await shown()
    for (const _ of ['', 'again'])
      expect(await client.mutate('deleteFiles', 'success', { files: [first?.id], projectId: 1 })).toEqual({
        success: true,
      })
    expect(await shown()).toEqual([second])
    expect(before.length - (await owners()).length).toBe(1)
    await expect(client.mutate('deleteFiles', 'success', { files: ['UnVuOng='] })).rejects.toThrow('RunFile')
  })
})

describe('POST /graphql, deleteRun', () => {
  it('200 with its artifacts, but for those that have an alias or are linked', async () => {
    const project = server.newProject()
    const { bucket } = await start(project, 'r')
    const log = (name: string, aliases: string[]) =>
      client.log({ project, name, aliases, runName: 'r', files: { f: `${project} ${name}` } })
    const versions = [await log('plain', ['latest']), await log('named', ['best']), await log('linked', [])]
    await client.mutate('linkArtifact', 'versionIndex', {
      artifactID: versions[2],
      entityName: 'test',
      projectName: project.slice(5),
      artifactPortfolioName: 'shelf',
    })
    await client.mutate('deleteRun', 'clientMutationId', { id: bucket.id, deleteArtifacts: true })
    expect(await runOf(project, 'r', 'id')).toBeNull()
    const states: string[] = []
    for (const id of versions) {
      const { data } = await client.ask('query ($id: ID!) { artifact(id: $id) { state } }', { id })
      states.push(data.artifact?.state)
    }
    expect(states).toEqual(['DELETED', 'COMMITTED', 'COMMITTED'])
  })
})
