import { Readable } from 'node:stream'
import { CreateMultipartUploadCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3'
import { describe, expect, inject, it, vi } from 'vitest'
import { newId } from '../../ids.ts'
import { SILENT } from '../../test-log.ts'
import { startTestNetwork } from '../../test-network.ts'
import { blobsContract } from './blobs.contract.ts'
import { readBlob } from './port.ts'
import { openS3Blobs } from './s3.ts'
import type { S3Options } from './s3-address.ts'
import { abortStaleUploads } from './s3-uploads.ts'

const { endpoint, bucket } = inject('servers').s3

const newPlace = (options: Partial<S3Options> = {}): S3Options => ({
  endpoint,
  bucket,
  prefix: `${newId()}/`,
  clientEndpoint: undefined,
  region: undefined,
  ...options,
})

const own = { owner: 'tests', log: SILENT }

blobsContract(() => openS3Blobs(newPlace(), own))

/** Three parts. */
const LARGE = 20_000_000

describe('openS3Blobs', () => {
  it('stores a stream of more bytes than one part has, and keeps nothing of one that breaks off', async () => {
    const place = newPlace()
    await using blobs = await openS3Blobs(place, own)
    const pieces = (count: number) => Array.from({ length: count }, (_, at) => Buffer.alloc(1_000_000, at))
    await blobs.put('large', Readable.from(pieces(20)))
    expect(await blobs.stat('large')).toMatchObject({ size: LARGE })
    expect(await readBlob(blobs, 'large', { start: 8_999_999, end: 9_000_000 })).toEqual(Buffer.from([8, 9]))
    async function* broken() {
      yield* pieces(18)
      throw new Error('client gone')
    }
    await expect(blobs.put('broken', Readable.from(broken()))).rejects.toThrow('client gone')
    expect(await blobs.stat('broken')).toBeUndefined()
    expect(await uploadsBelow(place)).toEqual([])
  })

  it('keeps blobs of one prefix apart from those of another', async () => {
    await using one = await openS3Blobs(newPlace(), own)
    await using other = await openS3Blobs(newPlace({ prefix: '' }), own)
    await one.put('a/b', Buffer.from('x'))
    expect(await other.stat('a/b')).toBeUndefined()
    expect((await Array.fromAsync(one.list(''))).map(({ key }) => key)).toEqual(['a/b'])
  })

  it('lists more than one page', async () => {
    await using blobs = await openS3Blobs(newPlace(), own)
    const keys = Array.from({ length: 1_050 }, (_, at) => `many/${at}`)
    for (let from = 0; from < keys.length; from += 50)
      await Promise.all(keys.slice(from, from + 50).map((key) => blobs.put(key, Buffer.of())))
    expect((await Array.fromAsync(blobs.list('many/'))).map(({ key }) => key).sort()).toEqual(keys.sort())
  })

  it('puts a blob again while it is deleted as unchanged', async () => {
    await using blobs = await openS3Blobs(newPlace(), own)
    await blobs.put('a', Buffer.from('x'))
    const modifiedAt = (await blobs.stat('a'))?.modifiedAt ?? 0
    await Promise.all([blobs.deleteUnchanged('a', modifiedAt), blobs.put('a', Buffer.from('x'))])
    expect(await blobs.stat('a')).toBeDefined()
  })

  it('has addresses from which clients read without this server', async () => {
    await using blobs = await openS3Blobs(newPlace({ clientEndpoint: endpoint }), own)
    await blobs.put('direct', Buffer.from('0123'))
    const url = (await blobs.directUrl?.('direct')) ?? ''
    const whole = await fetch(url)
    expect([whole.status, await whole.text()]).toEqual([200, '0123'])
    const part = await fetch(url, { headers: { range: 'bytes=1-2' } })
    expect([part.status, await part.text()]).toEqual([206, '12'])
    expect((await fetch(url.replace('direct', 'other'))).status).toBe(403)
  })

  it.each([
    ['no such bucket', { bucket: 'not-there' }, 'There is no bucket not-there: make it'],
    ['nothing there', { endpoint: 'http://127.0.0.1:1' }, `The bucket ${bucket} cannot be used: `],
  ])('says what is wrong: %s', async (_, options, message) => {
    await expect(openS3Blobs(newPlace(options), own)).rejects.toThrow(message)
  })

  it('says that a prefix belongs to others', async () => {
    const place = newPlace()
    for (let times = 0; times < 2; times++) await (await openS3Blobs(place, own))[Symbol.asyncDispose]()
    await expect(openS3Blobs(place, { ...own, owner: 'others' })).rejects.toThrow('another HEDDLE_SECRET_KEY')
  })

  it('503 while the store is away', async () => {
    await using network = await startTestNetwork(Number(new URL(endpoint).port))
    const place = newPlace({ endpoint: `http://127.0.0.1:${network.port}` })
    await using blobs = await openS3Blobs(place, own)
    await blobs.put('kept', Buffer.from('x'))
    await network.cut()
    const away = { status: 503, retryAfterSeconds: 5, message: 'The file store does not answer' }
    const whileAway = [
      () => blobs.put('a', Buffer.from('x')),
      () => blobs.put('b', Readable.from([Buffer.from('x')])),
      () => blobs.open('kept'),
      () => blobs.stat('kept'),
      () => blobs.delete('kept'),
      () => Array.fromAsync(blobs.list('')),
    ]
    await Promise.all(whileAway.map((work) => expect(work()).rejects.toMatchObject(away)))
  })

  it('says that credentials are not accepted', async () => {
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wrong')
    await expect(openS3Blobs(newPlace(), own)).rejects.toThrow('see AWS_ACCESS_KEY_ID')
    vi.unstubAllEnvs()
  })
})

describe('uploads that were interrupted', () => {
  it('are removed once they are old, and those of others are left alone', async () => {
    const place = newPlace()
    const s3 = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true })
    const begin = (Key: string) => s3.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key }))
    await begin(`${place.prefix}mine`)
    const others = newPlace()
    await begin(`${others.prefix}theirs`)
    const of = { s3, bucket, prefix: place.prefix, log: SILENT }
    const young = abortStaleUploads(of)
    expect(await young.swept()).toBe(0)
    const old = abortStaleUploads({ ...of, staleMs: -60_000 })
    expect(await old.swept()).toBe(1)
    expect(await uploadsBelow(place)).toEqual([])
    expect(await uploadsBelow(others)).toEqual([`${others.prefix}theirs`])
    await Promise.all([young.stop(), old.stop()])
  })
})

async function uploadsBelow({ prefix }: S3Options): Promise<(string | undefined)[]> {
  const s3 = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true })
  const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }))
  return Uploads.map(({ Key }) => Key)
}
