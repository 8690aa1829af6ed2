import { describe, expect, it } from 'vitest'
import { replyOf, useTestServer } from '../../testing.ts'
import { createTestClient } from '../test-client.ts'

const server = useTestServer()

interface Reply {
  data?: Record<string, { success?: boolean }> | null
  errors?: { message: string }[]
}

async function graphql(query: string, variables: object): Promise<Reply> {
  return replyOf<Reply>(await server.post('/graphql', { query, variables }))
}

const STOP = 'mutation StopRun($id: ID!) { stopRun(input: {id: $id}) { success } }'
const START = `mutation($input: UpsertBucketInput!) { upsertBucket(input: $input) { bucket { id } } }`

async function newRun(): Promise<{
  id: string
  name: { entityName: string; projectName: string; runName: string }
}> {
  const [entityName = '', projectName = ''] = server.newProject().split('/')
  const input = { entityName, modelName: projectName, name: 'r1' }
  const reply = (await graphql(START, { input })) as { data: { upsertBucket: { bucket: { id: string } } } }
  return { id: reply.data.upsertBucket.bucket.id, name: { entityName, projectName, runName: 'r1' } }
}

async function runOf({
  entityName,
  projectName,
  runName,
}: {
  entityName: string
  projectName: string
  runName: string
}) {
  return replyOf(await server.request(`/v1/preview/runs/${entityName}/${projectName}/${runName}`))
}

/** Wire: the mutation of wandb 0.31. */
const ALERT = `mutation NotifyScriptableRunAlert($entityName: String!, $projectName: String!, $runName: String!, $title: String!, $text: String!, $severity: AlertSeverity = INFO, $waitDuration: Duration) {
  notifyScriptableRunAlert(input: {entityName: $entityName, projectName: $projectName, runName: $runName, title: $title, text: $text, severity: $severity, waitDuration: $waitDuration}) { success }
}`

describe('POST /graphql, alerts of runs', () => {
  it('200 with alerts that the run shows, one of a title within its time', async () => {
    const { name } = await newRun()
    const alert = (title: string, more: object = {}) =>
      graphql(ALERT, { ...name, title, text: 'text', ...more })
    expect((await alert('low', { severity: 'WARN' })).data).toEqual({
      notifyScriptableRunAlert: { success: true },
    })
    await alert('low')
    await alert('low', { waitDuration: 0 })
    await alert('other', { severity: 'ERROR', waitDuration: 60_000_000_000 })
    expect(await runOf(name)).toMatchObject({
      alerts: [
        { title: 'other', text: 'text', severity: 'ERROR' },
        { title: 'low', severity: 'INFO' },
        { title: 'low', severity: 'WARN' },
      ],
    })
  })

  it('200 with an error for a run that does not exist', async () => {
    const { name } = await newRun()
    const { errors } = await graphql(ALERT, { ...name, runName: 'none', title: 't', text: 't' })
    expect(errors?.[0]?.message).toContain('not found')
  })
})

describe('POST /graphql, a run that is to stop', () => {
  it('200, and the client learns of it in its next reply, until the run starts again', async () => {
    const { id, name } = await newRun()
    const path = `/files/${name.entityName}/${name.projectName}/r1/file_stream`
    const stream = async () => replyOf(await server.post(path, { files: {} }))
    expect(await stream()).toEqual({})
    expect((await graphql(STOP, { id })).data).toEqual({ stopRun: { success: true } })
    expect(await stream()).toEqual({ stopped: true })
    const input = { entityName: name.entityName, modelName: name.projectName, name: 'r1' }
    for (const update of [input, { ...input, id }]) await graphql(START, { input: update })
    expect(await stream()).toEqual({ stopped: true })
    await server.post(path, { complete: true, exitcode: 255 })
    await graphql(START, { input: { ...input, id } })
    expect(await stream()).toEqual({})

    await graphql(STOP, { id })
    await server.stores.control
      .updateTable('runs')
      .set({ heartbeat_at: '2020-01-01T00:00:00Z' })
      .where('project', '=', name.projectName)
      .execute()
    await graphql(START, { input })
    expect(await stream()).toEqual({})
  })
})

describe('POST /graphql, the server and entities', () => {
  it('200 with the address of the pages, and that an entity may be written to', async () => {
    const { data } = await graphql(
      'query { serverInfo { frontendHost } entity(name: "team") { readOnly } }',
      {},
    )
    expect(data).toEqual({
      serverInfo: { frontendHost: expect.stringMatching(/^http:\/\//) },
      entity: { readOnly: false },
    })
  })
})

describe('alerts that the server itself adds to a run', () => {
  it('200 with one for lines of metrics that are no JSON objects', async () => {
    const { name } = await newRun()
    const content = ['{"v":1}', 'nonsense', '[1]', '{"v":2}']
    const files = { 'wandb-history.jsonl': { offset: 5, content } }
    const path = `/files/${name.entityName}/${name.projectName}/${name.runName}/file_stream`
    expect((await server.post(path, { files })).status).toBe(200)
    const text = '2 lines are no JSON objects and were not kept, the first of them line 6'
    const alert = { title: 'Lines of wandb-history.jsonl were not kept', text, severity: 'WARN' }
    expect(await runOf(name)).toMatchObject({ alerts: [alert] })
  })

  it('200 with one for an artifact that is refused when it is made, described or committed', async () => {
    const client = createTestClient(server)
    const { name } = await newRun()
    const { entityName: entity, projectName: project, runName } = name
    const refused = (artifactCollectionName: string, input: object) =>
      client.mutate('createArtifact', 'artifact { id }', {
        ...{ entityName: entity, projectName: project, runName, artifactTypeName: 'dataset', digest: 'd' },
        ...{ artifactCollectionName, ...input },
      })
    await expect(refused('ends', { ttlDurationSeconds: 60 })).rejects.toThrow('A ttl')
    await expect(refused('shared', { distributedID: 'x' })).rejects.toThrow('several writers')
    const files = { 'a.txt': 'a' }
    const { id } = await client.open({ entity, project, name: 'data', runName, files })
    const manifest = { artifactID: id, name: 'm', digest: '', entityName: entity, projectName: project }
    await expect(
      client.mutate('createArtifactManifest', 'artifactManifest { id }', {
        ...manifest,
        type: 'INCREMENTAL',
      }),
    ).rejects.toThrow('Only whole manifests')
    const other = await client.open({ entity, project, name: 'other', runName, files })
    await expect(client.commit(other.id)).rejects.toThrow('has not been uploaded')
    const alerts = ['other', 'data', 'shared', 'ends'].map((artifact) => ({
      title: `The artifact ${artifact} was refused`,
      severity: 'ERROR',
    }))
    expect(await runOf(name)).toMatchObject({ alerts })
  })
})
