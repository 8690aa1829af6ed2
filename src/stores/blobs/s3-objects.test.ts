import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { S3Client } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { createS3Objects } from './s3-objects.ts'

const LIST = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated><KeyCount>1</KeyCount>
<Contents><Key>files/abc</Key><LastModified>2026-01-01T10:00:00.789Z</LastModified><Size>5</Size></Contents>
</ListBucketResult>`

/**
 * A store whose lists have milliseconds, and whose header `Last-Modified` has none, as HTTP does not: MinIO and Ceph.
 */
async function storeOfMilliseconds() {
  const deleted: string[] = []
  const server = createServer((request, response) => {
    if (request.method === 'DELETE') deleted.push(request.url?.split('?')[0] ?? '')
    if (request.method === 'HEAD')
      response.setHeader('last-modified', 'Thu, 01 Jan 2026 10:00:00 GMT').setHeader('content-length', 5)
    if (request.method === 'GET') response.setHeader('content-type', 'application/xml').write(LIST)
    response.statusCode = request.method === 'DELETE' ? 204 : 200
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const s3 = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
  })
  return {
    objects: createS3Objects(s3, { bucket: 'bucket', prefix: '' }),
    deleted,
    async [Symbol.asyncDispose]() {
      s3.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe('deleteUnchanged', () => {
  it('deletes what was listed with a time that is more precise than that of the object itself', async () => {
    await using store = await storeOfMilliseconds()
    const { objects, deleted } = store
    const [listed] = await Array.fromAsync(objects.list('files/'))
    expect(listed?.modifiedAt).toBe(Date.parse('2026-01-01T10:00:00Z'))
    expect(await objects.deleteUnchanged('files/abc', listed?.modifiedAt ?? 0)).toBe(true)
    expect(deleted).toEqual(['/bucket/files/abc'])
  })

  it('leaves what was put again since', async () => {
    await using store = await storeOfMilliseconds()
    expect(await store.objects.deleteUnchanged('files/abc', Date.parse('2026-01-01T09:59:59Z'))).toBe(false)
    expect(store.deleted).toEqual([])
  })
})
