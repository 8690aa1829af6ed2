import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFakeCompute } from '../src/stores/compute/fake-compute.ts'
import { useTestServer } from '../src/testing.ts'
import { answerOf, type Read, unpack } from './previous-release/archive.ts'

const unpacked = await mkdtemp(join(tmpdir(), 'heddle-previous-'))
await unpack(unpacked)
const reads = JSON.parse(await readFile(join(unpacked, 'reads.json'), 'utf8')) as Read[]

const server = useTestServer({
  compute: openFakeCompute,
  prepare: async (folder) => {
    await cp(join(unpacked, 'data'), folder, { recursive: true, verbatimSymlinks: true })
    await rm(unpacked, { recursive: true })
  },
})

describe('a data folder that the previous release wrote', () => {
  it.each([
    '/calls/stream_query',
    '/feedback/query',
    '/objs/query',
    '/cost/query',
    '/annotation_queues/query',
    '/threads/stream_query',
    '/table/query',
    '/file/content',
    '/v1/preview/models',
    '/v1/preview/training-jobs',
    '/v1/preview/runs',
    '/v1/preview/artifacts',
    '/v1/usage',
  ])('has something to read at %s', (path) => {
    const lengths = reads
      .filter((read) => read.path.split('?')[0] === path)
      .map(({ answer }) => JSON.stringify(answer).length)
    expect(Math.max(...lengths)).toBeGreaterThan(100)
  })

  it.each(reads)(
    'answers $method $path $body as that release did; there may be more fields',
    async ({ method, path, body, answer }) => {
      const response = await server.request(path, { method, ...(body && { body: JSON.stringify(body) }) })
      const text = await response.text()
      expect(response.status, text).toBe(200)
      const found = answerOf(text, response.headers.get('content-type'))
      if (typeof answer === 'object') expect(found).toMatchObject(answer as object)
      else expect(found).toEqual(answer)
    },
  )
})
