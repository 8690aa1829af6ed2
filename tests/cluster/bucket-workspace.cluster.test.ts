import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { ROOT } from '../../scripts/repository.ts'
import { newId } from '../../src/ids.ts'
import { startServer, type WireServer } from '../wire/server.ts'
import { groups, trainingClient } from '../wire/training-client.ts'
import { until } from '../wire/until.ts'
import { S3_CREDENTIALS } from './seaweedfs.ts'
import { TEST_SERVERS } from './test-servers.ts'

const { endpoint, bucket } = inject('servers').s3
const prefix = newId()
const s3 = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true })

/** More than the steps before a kill. */
const GROUPS = 8
const STEPS_BEFORE_KILL = 3
/** Less than a step takes. */
const RUN_BETWEEN_LOOKS_MS = 50

let server: WireServer
let folder: string

/**
 * An engine as on another machine: every folder for temporary files, the server's data folder among them, is an empty
 * one of its own, which is gone when it ends; so is what it works in.
 */
async function engineApart(path: string): Promise<string> {
  const python = pythonIn('engine')
  // This checkout stays, which may be among the temporary files.
  const apart = `mount --bind ${ROOT} /mnt && mount -t tmpfs tmpfs ${tmpdir()} && mkdir -p ${ROOT} ${tmpdir()}/empty &&
    mount --bind /mnt ${ROOT} && cd ${tmpdir()}/empty && exec ${python} "$@"`
  await writeFile(path, `#!/bin/sh\nexec unshare -Urm sh -c '${apart}' sh "$@"\n`)
  await chmod(path, 0o755)
  return path
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-engine-apart-'))
  // One server with stores of its own, whatever servers other tests of this run share.
  vi.stubEnv(TEST_SERVERS, undefined)
  server = await startServer({
    ...S3_CREDENTIALS,
    HEDDLE_S3_URL: `s3://${bucket}/${prefix}`,
    HEDDLE_S3_ENDPOINT: endpoint,
    HEDDLE_WORKSPACE: 's3',
    HEDDLE_ENGINE_PYTHON: await engineApart(join(folder, 'python')),
  })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const { request, newModel, startJob, eventsOf, end, newest, chat } = trainingClient(() => server)

async function inWorkspace(below: string): Promise<string[]> {
  const Prefix = `${prefix}/workspace/${below}`
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix }))
  return Contents.map(({ Key = '' }) => Key.slice(Prefix.length))
}

/** The generation of the state that a job has published. */
async function publishedState(job: string): Promise<string | undefined> {
  const Key = `${prefix}/workspace/folders/jobs/${job}`
  const found = await s3.send(new GetObjectCommand({ Bucket: bucket, Key })).catch(() => undefined)
  return found?.Body?.transformToString()
}

async function stepsOf(job: string): Promise<number> {
  return (await eventsOf(job)).filter(({ type }) => type === 'gradient_step').length
}

async function adapterOf(model: string): Promise<Buffer> {
  const path = `/v1/preview/models/${model}/checkpoints/1/files/adapter_model.safetensors`
  const reply = await request('GET', path)
  expect(reply.status).toBe(200)
  return Buffer.from(await reply.arrayBuffer())
}

/**
 * The trainer's process, stopped as soon as a condition holds. It runs for a moment between two looks, so that it is
 * not done before it is seen, however slow the looks are.
 */
async function pausedWhen(reached: () => Promise<boolean>): Promise<number> {
  const [trainer] = server.processes('engine.main')
  if (trainer === undefined) throw new TypeError('a trainer runs')
  for (;;) {
    process.kill(trainer, 'SIGSTOP')
    if (await reached()) return trainer
    process.kill(trainer, 'SIGCONT')
    await sleep(RUN_BETWEEN_LOOKS_MS)
  }
}

describe('engines that reach nothing of the server but the bucket', () => {
  it('train a job whose machine is lost as if it had not been, and serve what it made', async () => {
    const [whole, broken] = [await newModel(), await newModel()]
    const config = { learning_rate: 1e-3 }
    expect((await end(await startJob(whole.id, groups(GROUPS), config))).type).toBe('training_ended')

    const job = await startJob(broken.id, groups(GROUPS), config)
    const reached = async () =>
      (await stepsOf(job)) >= STEPS_BEFORE_KILL && (await publishedState(job)) !== undefined
    process.kill(await pausedWhen(reached), 'SIGKILL')
    expect((await end(job)).type).toBe('training_ended')

    const events = await eventsOf(job)
    expect(events.filter(({ type }) => type === 'training_resumed')).toHaveLength(1)
    expect(await stepsOf(job)).toBe(events[0]?.data['num_sequences'])
    expect((await newest(broken.id)).step).toBe(1)
    expect((await adapterOf(broken.id)).equals(await adapterOf(whole.id))).toBe(true)
    const answerOf = (model: string) => until(() => chat(`${model}:step1`).catch(() => undefined))
    expect(await answerOf(broken.name)).toBe(await answerOf(whole.name))

    // What is served stays, the initial adapter and that of both checkpoints; everything else of the jobs is gone.
    const served = expect.stringMatching(/^adapters\/[0-9a-f]{64}$/)
    expect(await inWorkspace('folders/')).toEqual([served, served])
    const files = await inWorkspace('files/')
    expect(files.filter((file) => file.startsWith('adapters/'))).toHaveLength(4)
    // Killed while it published a state, a trainer leaves that one or the one before, until it is old
    // (bucket-leftovers.ts).
    const left = files.filter((file) => !file.startsWith('adapters/'))
    expect([[], [expect.stringMatching(`^jobs/${job}/`)]]).toContainEqual(left)
  })
})
