import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { conflict } from '../../errors.ts'
import { jsonLines } from '../../http/stream-reply.ts'
import { SILENT } from '../../test-log.ts'
import { documentsOf, type Fields, useTestServer } from '../../testing.ts'
import { createBackups } from './service.ts'

let dataFolder = ''
const server = useTestServer({
  async prepare(folder) {
    dataFolder = folder
  },
})

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-backup-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const backup = (path: string): Promise<Response> => server.post('/v1/preview/system/backup', { path })

describe('POST /v1/preview/system/backup', () => {
  it('200 with the backup, and nothing that was kept for it afterwards', async () => {
    await server.stores.blobs.put('contents/one', Buffer.from('one'))
    const path = join(folder, 'backup')
    const lines = await documentsOf<Fields>(await backup(path))
    expect(lines.at(-1)).toMatchObject({ state: 'done', path, broken_parts: 0 })
    expect((await readdir(path)).sort()).toEqual(['blobs', 'control.sqlite', 'manifest.jsonl', 'trace-db'])
    expect(await readdir(join(dataFolder, 'snapshots'))).toEqual([])
    expect((await backup(path)).status).toBe(409)
  })

  it('200 for one of several at once, 409 for the others', async () => {
    const replies = await Promise.all(['one', 'two', 'three'].map((name) => backup(join(folder, name))))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  })

  it('200 with lines while files are kept, before any is copied', async () => {
    const keeping = Promise.withResolvers<void>()
    const { snapshots, brokenParts } = server.stores
    const backups = createBackups({
      dataFolder,
      version: '1.0.0',
      stores: {
        snapshots: {
          async take(onKept, signal) {
            onKept(7)
            await keeping.promise
            return snapshots.take(onKept, signal)
          },
        },
        brokenParts,
      },
      log: SILENT,
    })
    const { signal } = new AbortController()
    const reply = await jsonLines(await backups.write({ path: join(folder, 'many') }, { signal }))
    keeping.resolve()
    const lines = await documentsOf<Fields>(new Response(reply))
    expect(lines[0]).toEqual({ state: 'preparing', files: 7 })
    expect(lines.at(-1)).toMatchObject({ state: 'done' })
  })

  it('409 for one that is refused while it is prepared, which is logged as no error', async () => {
    const logged: unknown[][] = []
    const note =
      (level: string) =>
      (...args: unknown[]) =>
        void logged.push([level, ...args])
    const backups = createBackups({
      dataFolder,
      version: '1.0.0',
      stores: {
        snapshots: {
          async take() {
            throw conflict('There is no room')
          },
        },
        brokenParts: [],
      },
      log: { info: note('info'), error: note('error') },
    })
    const path = join(folder, 'roomless')
    const reply = await backups.write({ path }, { signal: new AbortController().signal })
    await expect(jsonLines(reply)).rejects.toMatchObject({ status: 409 })
    expect(logged).toEqual([['info', { path, reason: 'There is no room' }, 'a backup was refused']])
  })

  it('400 for a path that is relative, inside the data folder, or in no folder', async () => {
    const impossible = ['a\0b', 'n'.repeat(300), 'n'.repeat(250)].map((name) => join(folder, name))
    for (const path of ['backup', join(dataFolder, 'backup'), join(folder, 'none/backup'), ...impossible])
      expect((await backup(path)).status).toBe(400)
  })

  it('422 without a path', async () => {
    expect((await server.post('/v1/preview/system/backup', {})).status).toBe(422)
  })
})
