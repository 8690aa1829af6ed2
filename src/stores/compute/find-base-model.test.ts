import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createBaseModelFinder } from './find-base-model.ts'

const asked: (string | undefined)[] = []
const hub = createServer((request, response) => {
  asked.push(request.url)
  if (request.url === '/api/models/slow/model') return
  response.writeHead(request.url === '/api/models/some/model' ? 200 : 401).end('{}')
})
await new Promise<void>((listening) => hub.listen(0, '127.0.0.1', listening))
const address = hub.address()
const HF_ENDPOINT = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
afterAll(() => {
  hub.closeAllConnections()
  hub.close()
})

const HF_HOME = mkdtempSync(join(tmpdir(), 'heddle-hub-'))
const cached = join(HF_HOME, 'hub/models--cached--model')
mkdirSync(join(cached, 'snapshots/abc'), { recursive: true })
mkdirSync(join(cached, 'refs'))
writeFileSync(join(cached, 'refs/main'), 'abc')

const ownModels = mkdtempSync(join(tmpdir(), 'heddle-models-'))
mkdirSync(join(ownModels, 'loom-tiny'))

/** Longer than the hub of this test takes on a busy machine. */
const HUB_MS_MAX = 60_000

const find = (id: string, environment: NodeJS.ProcessEnv = {}, hubMsMax = HUB_MS_MAX) =>
  createBaseModelFinder({
    hubMsMax,
    ownModels,
    configured: ['/srv/my-model', HF_HOME],
    environment: { HF_HOME, HF_ENDPOINT, ...environment },
  })(id, new AbortController().signal)

describe('a base model', () => {
  it.each(['heddle/loom-tiny', '/srv/my-model', 'cached/model', 'some/model', join(HF_HOME, 'hub')])(
    '%s is there',
    async (id) => {
      expect(await find(id)).toEqual({ isThere: true })
    },
  )

  it.each([
    ['heddle/loom-tinny', 'this server has none'],
    ['heddle/../../etc', 'this server has none'],
    ['/etc', 'neither'],
    [join(HF_HOME, 'nothing'), 'neither'],
    [`${HF_HOME}/hub/../hub`, 'neither'],
    ['-h', 'neither'],
    ['--help', 'neither'],
    ['../models', 'neither'],
    ['https://example.com/model', 'neither'],
    ['a/b/c', 'neither'],
    ['no/such-model', 'the hub has none of that name'],
  ])('%s is not there, for a reason that is given', async (id, reason) => {
    expect(await find(id)).toEqual({
      isThere: false,
      reason: expect.stringContaining(reason),
      known: ['/srv/my-model', HF_HOME, 'heddle/loom-tiny'],
    })
  })

  it('is not there where the hub never answers', async () => {
    const found = await find('slow/model', {}, 200)
    expect(found).toMatchObject({ isThere: false, reason: expect.stringContaining('cannot be reached') })
  })

  it('is not looked for on a hub that is disabled or cannot be reached', async () => {
    const before = asked.length
    expect(await find('some/model', { HF_HUB_OFFLINE: '1' })).toMatchObject({ isThere: false })
    expect(asked).toHaveLength(before)
    expect(await find('some/model', { HF_ENDPOINT: 'http://127.0.0.1:1' })).toMatchObject({ isThere: false })
  })
})
