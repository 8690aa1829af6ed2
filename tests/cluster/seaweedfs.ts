import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import pRetry, { AbortError } from 'p-retry'
import { environmentFolder } from '../../scripts/python-environments.ts'
import { startChild } from '../../src/stores/processes/child.ts'
import { freePort } from '../../src/stores/processes/free-port.ts'
import { createLogFolder } from '../../src/stores/processes/log-folder.ts'

/** Those of the store, as programs of Amazon find them in their environment. */
export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test-access', AWS_SECRET_ACCESS_KEY: 'test-secret' }

/** It starts in four seconds, and on a busy machine in twenty. */
const START_MS_MAX = 60_000

/** All but that of S3; by default gRPC has ports beside the others, which may be taken. */
const PORTS = [
  'master.port',
  'master.port.grpc',
  'volume.port',
  'volume.port.grpc',
  'filer.port',
  'filer.port.grpc',
  's3.port.grpc',
]

/** Another program may take a port before it is listened on. */
const PORT_RETRIES = 3

/** Megabytes of one of its files of many objects: it allocates them as they are needed. */
const VOLUME_MB = 100

/** A SeaweedFS with an empty bucket; disposal removes all. */
export interface SeaweedFs extends AsyncDisposable {
  endpoint: string
  bucket: string
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
  /** Starts it again over the same files, on the same port. */
  start(): Promise<void>
}

/** @throws Error that says how to install it, or with its last output when it does not start */
export function startSeaweedFs(): Promise<SeaweedFs> {
  return pRetry(startOnNewPorts, {
    retries: PORT_RETRIES,
    shouldRetry: ({ error }) => error.message.includes('address already in use'),
  })
}

async function startOnNewPorts(): Promise<SeaweedFs> {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-seaweedfs-'))
  const ports = await Promise.all(PORTS.map(async (name) => `-${name}=${await freePort()}`))
  const s3 = await freePort()
  writeFileSync(join(folder, 's3.json'), JSON.stringify({ identities: [identity()] }))
  const logs = createLogFolder(folder)
  const options = {
    command: join(environmentFolder('s3'), 'bin/weed'),
    args: [
      '-logtostderr=true',
      'server',
      `-dir=${folder}`,
      '-ip=127.0.0.1',
      '-ip.bind=127.0.0.1',
      ...ports,
      `-s3.port=${s3}`,
      `-master.volumeSizeLimitMB=${VOLUME_MB}`,
      '-volume.max=100',
      '-volume.minFreeSpace=1',
      '-filer',
      '-s3',
      '-s3.autoCreateBucket=false',
      '-s3.port.iceberg=0',
      '-s3.port.lance=0',
      `-s3.config=${join(folder, 's3.json')}`,
      `-s3.localSocket=${join(folder, 's3.sock')}`,
    ],
    env,
    cwd: folder,
    logs,
    logName: 'seaweedfs.log',
    stdout: 'log' as const,
  }
  let child = startChild(options)
  async function dispose(): Promise<void> {
    client.destroy()
    await child.kill('at-once')
    rmSync(folder, { recursive: true, force: true })
  }
  const endpoint = `http://127.0.0.1:${s3}`
  const bucket = 'heddle-tests'
  const credentials = {
    accessKeyId: S3_CREDENTIALS.AWS_ACCESS_KEY_ID,
    secretAccessKey: S3_CREDENTIALS.AWS_SECRET_ACCESS_KEY,
  }
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })

  async function untilReady(): Promise<void> {
    const create = async (): Promise<void> => {
      if (!child.isAlive()) throw new AbortError('It has ended')
      await client.send(new CreateBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
        // After a start over the same files.
        if (!(error instanceof Error && error.name.startsWith('BucketAlready'))) throw error
      })
    }
    try {
      await pRetry(create, { retries: 10_000, maxTimeout: 200, maxRetryTime: START_MS_MAX })
    } catch (error) {
      const output = child.lastLines().join('\n')
      await dispose()
      throw new Error(`SeaweedFS does not start ("npm run setup s3" installs it):\n${output}`, {
        cause: error,
      })
    }
  }

  await untilReady()
  return {
    endpoint,
    bucket,
    kill: () => child.kill('at-once'),
    async start() {
      child = startChild(options)
      await untilReady()
    },
    [Symbol.asyncDispose]: dispose,
  }
}

function identity() {
  return {
    name: 'tests',
    credentials: [
      {
        accessKey: S3_CREDENTIALS.AWS_ACCESS_KEY_ID,
        secretKey: S3_CREDENTIALS.AWS_SECRET_ACCESS_KEY,
      },
    ],
    actions: ['Admin', 'Read', 'Write', 'List', 'Tagging'],
  }
}
