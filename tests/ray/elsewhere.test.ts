import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { S3_CREDENTIALS, type SeaweedFs, startSeaweedFs } from '../cluster/seaweedfs.ts'
import { startServer, type WireServer } from '../wire/server.ts'
import { groups, trainingClient } from '../wire/training-client.ts'
import { until } from '../wire/until.ts'
import { ENGINE, type RayCluster, startRay } from './ray-cluster.ts'

/** Ray asks for 32 characters at least. */
const TOKEN = 'heddle-tests-'.padEnd(48, '0')

/** Enough for a trainer alone. */
const NEEDS = JSON.stringify({ cpus: 1, gpus: 0, resources: { [ENGINE]: 1 } })

let ray: RayCluster
let store: SeaweedFs
let server: WireServer

beforeAll(async () => {
  // Nodes have credentials of their own, which they inherit here.
  Object.assign(process.env, S3_CREDENTIALS)
  store = await startSeaweedFs()
  ray = await startRay({ token: TOKEN })
  await ray.addNode()
})
afterAll(async () => {
  await ray?.[Symbol.asyncDispose]()
  await store?.[Symbol.asyncDispose]()
})

const { newModel, startJob, end, chat } = trainingClient(() => server)

async function start(token: string): Promise<WireServer> {
  server = await startServer({
    HEDDLE_RAY_URL: ray.url,
    HEDDLE_RAY_TOKEN: token,
    HEDDLE_RAY_PYTHON: pythonIn('engine'),
    HEDDLE_RAY_TRAINER: NEEDS,
    HEDDLE_RAY_SERVER: NEEDS,
    HEDDLE_S3_URL: `s3://${store.bucket}/ray`,
    HEDDLE_S3_ENDPOINT: store.endpoint,
    HEDDLE_WORKSPACE: 's3',
    HEDDLE_SECRET_KEY: 'tests'.repeat(8),
    ...S3_CREDENTIALS,
  })
  return server
}

interface Part {
  name: string
  state: string
  last_error: string | null
}

/** The processes of the engine, also while they cannot be started, which the status says. */
async function parts(): Promise<Part[]> {
  const reply = await fetch(`${server.url}/v1/system-check`)
  const { engine } = (await reply.json()) as { engine: { parts: Part[] } }
  return engine.parts
}

describe('a cluster that asks for a token, and shares no folder with the server', () => {
  it('refuses another one, and the state says so', async () => {
    await using _server = await start('x'.repeat(48))
    const failed = await until(async () => (await parts()).find(({ state }) => state === 'failed'))
    expect(failed.last_error).toMatch(/it refuses the token \(HEDDLE_RAY_TOKEN\): 403/)
  })

  it('runs engines for who has it, in turn where there is room for one: what nobody uses gives way', async () => {
    await using _server = await start(TOKEN)
    const model = await newModel()
    expect((await end(await startJob(model.id, groups(2)))).type).toBe('training_ended')
    expect(await until(() => chat(`${model.name}:step1`).catch(() => undefined))).not.toBe('')
    expect((await parts()).find(({ name }) => name.startsWith('trainer'))?.state).toBe('idle')
    expect((await end(await startJob(model.id, groups(2)))).type).toBe('training_ended')
  })
})
