import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { describe, expect, inject, it } from 'vitest'
import { environmentFolder, pythonIn } from '../../../scripts/python-environments.ts'
import { newId } from '../../ids.ts'
import { SILENT } from '../../test-log.ts'
import { openS3Blobs } from '../blobs/s3.ts'
import type { S3Options } from '../blobs/s3-address.ts'
import { createS3Client } from '../blobs/s3-client.ts'
import { sitePackagesOf } from '../compute/python-environment.ts'
import { openBucketWorkspace } from './bucket.ts'
import { workspaceOf } from './bucket-address.ts'
import { createBucketFolders } from './bucket-folders.ts'
import { removeLeftovers } from './bucket-leftovers.ts'
import { type OpenedWorkspace, type WorkspaceOfEngine, workspaceContract } from './workspace.contract.ts'

const { endpoint, bucket } = inject('servers').s3
const s3 = createS3Client({ region: undefined }, endpoint)
/** They start a vLLM and four trainers: two minutes, and longer beside other tests. */
const ENGINE_TESTS_MS_MAX = 600_000
/** The last of what pytest writes: what failed and why, and the counts. */
const SUMMARY_LINES = 20

const ENGINE = resolve(import.meta.dirname, '../../../engine')

const newPlace = (): S3Options => ({
  endpoint,
  bucket,
  prefix: `${newId()}/`,
  clientEndpoint: undefined,
  region: undefined,
})

const options = () => ({ log: SILENT, folder: mkdtempSync(join(tmpdir(), 'heddle-engines-')) })

/** The engine's own Python, in a process for each use. */
async function realEngine(place: S3Options): Promise<WorkspaceOfEngine> {
  const local = await mkdtemp(join(tmpdir(), 'heddle-local-'))
  const { prefix } = workspaceOf(place)
  async function run(...words: string[]): Promise<string> {
    const args = [join(ENGINE, 'tests/use_workspace.py'), `s3://${bucket}/${prefix}`, local, ...words]
    const env = { ...process.env, PYTHONPATH: join(ENGINE, 'src'), AWS_ENDPOINT_URL_S3: endpoint }
    return (await promisify(execFile)(pythonIn('engine'), args, { env, timeout: 60_000 })).stdout
  }
  return {
    read: (folder, file) => run('read', folder, file),
    async write(folder, files) {
      await run('write', folder, JSON.stringify(files))
    },
  }
}

async function open(place = newPlace()): Promise<OpenedWorkspace & { workspace: AsyncDisposable }> {
  const blobs = await openS3Blobs(place, { owner: 'tests', log: SILENT })
  const workspace = await openBucketWorkspace(place, { ...options(), partBytes: 5 * 1024 ** 2 })
  return { workspace, blobs, engine: await realEngine(place) }
}

/** The store, which loses the answers to some requests: it has done what they ask by then. */
async function startLosingAnswers(isLost: (method: string, path: string) => boolean) {
  const listener = createServer((incoming, answer) => {
    const { method = '', url = '', headers } = incoming
    const forwarded = request(new URL(url, endpoint), { method, headers }, (reply) => {
      if (isLost(method, url)) return void reply.resume().on('end', () => answer.destroy())
      answer.writeHead(reply.statusCode ?? 0, reply.rawHeaders)
      reply.pipe(answer)
    })
    incoming.pipe(forwarded)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return { endpoint: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void listener.close() }
}

async function keysBelow(prefix: string): Promise<string[]> {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }))
  return Contents.map(({ Key = '' }) => Key.slice(prefix.length))
}

workspaceContract(() => open())

describe('a workspace in a bucket', () => {
  it('copies files of many parts', async () => {
    const { workspace, blobs } = await open()
    const pieces = Array.from({ length: 13 }, (_, at) => Buffer.alloc(1_000_000, at))
    await blobs.put('contents/large', Readable.from(pieces))
    await workspace.materialise('large/1', [{ name: 'a', blobKey: 'contents/large' }])
    for await (const { name, bytes } of workspace.collect('large/1')) {
      expect(name).toBe('a')
      expect(Buffer.concat(await Array.fromAsync(bytes())).equals(Buffer.concat(pieces))).toBe(true)
    }
  })

  it('keeps nothing of what was replaced, removed, or could not be laid out', async () => {
    const place = newPlace()
    const { workspace, blobs, engine } = await open(place)
    await blobs.put('contents/a', Buffer.from('a'))
    const files = [{ name: 'a', blobKey: 'contents/a' }]
    const { prefix } = workspaceOf(place)
    for (let times = 0; times < 2; times++) await workspace.materialise('kept/1', files)
    for (const text of ['one', 'two']) await engine.write('kept/1', { a: text })
    expect((await keysBelow(prefix)).map((key) => key.replace(/\/[0-9a-f]{32}\//, '/…/'))).toEqual([
      'files/kept/1/…/0',
      'folders/kept/1',
    ])
    const lacking = [...files, { name: 'b', blobKey: 'contents/none' }]
    await expect(workspace.materialise('kept/1', lacking)).rejects.toThrow('b (contents/none)')
    expect(await engine.read('kept/1', 'a')).toBe('two')
    await workspace.remove('kept')
    expect(await keysBelow(prefix)).toEqual([])
  })

  it.each([
    ['is whole', [/^PUT .*\/folders\/kept\/1/], []],
    [
      'is whole, though this is not known',
      [/^PUT .*\/folders\/kept\/1/, /^GET .*\/folders\/kept\/1/],
      ['fails'],
    ],
  ])('a folder whose list was stored without an answer %s', async (_, lost, outcome) => {
    const place = newPlace()
    const { workspace, blobs } = await open(place)
    await blobs.put('contents/a', Buffer.from('a'))
    const files = [{ name: 'a', blobKey: 'contents/a' }]
    let isLosing = false
    using store = await startLosingAnswers((method, path) => {
      // The first reading is of what the folder had before.
      isLosing ||= method === 'PUT' && path.includes('/folders/')
      return isLosing && lost.some((pattern) => pattern.test(`${method} ${path}`))
    })
    await using behind = await openBucketWorkspace({ ...place, endpoint: store.endpoint }, options())
    const failed = await behind.materialise('kept/1', files).then(
      () => [],
      () => ['fails'],
    )
    expect(failed).toEqual(outcome)
    for await (const { bytes } of workspace.collect('kept/1'))
      expect(Buffer.concat(await Array.fromAsync(bytes())).toString()).toBe('a')
  })

  it('lists more folders than a page has', async () => {
    const place = newPlace()
    const { workspace } = await open(place)
    const names = Array.from({ length: 1_050 }, (_, at) => `${at}`)
    for (let from = 0; from < names.length; from += 50)
      await Promise.all(
        names.slice(from, from + 50).map((name) => workspace.materialise(`paged/${name}`, [])),
      )
    expect(await workspace.list('paged')).toEqual(names.toSorted())
    await workspace.remove('paged')
    expect(await keysBelow(workspaceOf(place).prefix)).toEqual([])
  })

  it('removes the files that no folder has once they are old, some at a time', async () => {
    const place = newPlace()
    const { workspace, blobs } = await open(place)
    await blobs.put('contents/a', Buffer.from('a'))
    await workspace.materialise('whole/1', [{ name: 'a', blobKey: 'contents/a' }])
    const { prefix } = workspaceOf(place)
    const left = ['files/abandoned/1/g/0', 'files/abandoned/1/g/1', 'files/whole/1/other/0']
    for (const key of left)
      await s3.send(new PutObjectCommand({ Bucket: bucket, Key: prefix + key, Body: 'left' }))
    const folders = createBucketFolders(s3, { bucket, prefix })
    const young = removeLeftovers({ folders, log: SILENT })
    expect(await young.swept()).toBe(0)
    const old = removeLeftovers({ folders, log: SILENT, staleMs: -60_000, filesMax: 2 })
    expect(await old.swept()).toBe(2)
    old.sweep()
    expect(await old.swept()).toBe(1)
    await Promise.all([young.stop(), old.stop()])
    expect(await workspace.has('whole/1')).toBe(true)
    expect((await keysBelow(prefix)).filter((key) => left.includes(key))).toEqual([])
    expect(await Array.fromAsync(workspace.collect('whole/1'))).toHaveLength(1)
  })

  it('503 while the store is away', async () => {
    const place = { ...newPlace(), endpoint: 'http://127.0.0.1:1' }
    await using workspace = await openBucketWorkspace(place, options())
    const away = { status: 503, message: 'The file store does not answer' }
    await expect(workspace.has('a')).rejects.toMatchObject(away)
    await expect(workspace.materialise('a', [])).rejects.toMatchObject(away)
    await expect(workspace.remove('a')).rejects.toMatchObject(away)
    await expect(workspace.list('a')).rejects.toMatchObject(away)
  })
})

describe("the engine's workspace in a bucket", () => {
  it(
    'passes its own tests on this store',
    async () => {
      const env = {
        ...process.env,
        // pytest lies beside the engine's packages this way.
        PYTHONPATH: [join(ENGINE, 'src'), sitePackagesOf(environmentFolder('tools'))].join(delimiter),
        AWS_ENDPOINT_URL_S3: endpoint,
        HEDDLE_TEST_BUCKET: `s3://${bucket}/${newId()}`,
      }
      const args = ['-m', 'pytest', '-q', '-x', '--tb=short', '--disable-warnings', '-m', 'bucket']
      const options = { env, cwd: ENGINE, timeout: ENGINE_TESTS_MS_MAX }
      const { stdout } = await promisify(execFile)(pythonIn('engine'), args, options).catch(
        (failed: Error & { stdout: string }) => {
          throw new Error(failed.stdout.split('\n').slice(-SUMMARY_LINES).join('\n') || failed.message)
        },
      )
      expect(stdout).toMatch(/\d+ passed/)
    },
    ENGINE_TESTS_MS_MAX,
  )
})
