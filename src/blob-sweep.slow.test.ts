import { randomUUID } from 'node:crypto'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type BlobSweep, createBlobSweep } from './blob-sweep.ts'
import { createContents } from './contents/service.ts'
import { SILENT } from './test-log.ts'
import { replyOf } from './testing.ts'
import { filesOwner } from './trace/files/blob-owner.ts'
import { jobsOwner } from './training/jobs/blob-owner.ts'
import { group } from './training/test-group.ts'
import { LOGGED_TRAJECTORIES_OWNER } from './training/trajectories/service.ts'
import { json, useTrainingServer } from './training/use-training-server.ts'

const training = useTrainingServer()
const { server } = training
const LONG_AGO = new Date(Date.now() - 48 * 3_600_000)

let sweep: BlobSweep
beforeEach(() => {
  const { blobs, control, traces } = server.stores
  const owners = [
    createContents({ control, blobs }).blobOwner,
    jobsOwner(control),
    filesOwner(traces),
    LOGGED_TRAJECTORIES_OWNER,
  ]
  sweep = createBlobSweep({ blobs, owners, log: SILENT })
})

/** Puts a blob that looks as if it had been put long ago. */
async function put(key: string): Promise<string> {
  await server.stores.blobs.put(key, Buffer.from('bytes'))
  await age(key)
  return key
}

/** Makes it look as if a blob had been put long ago. */
async function age(key: string): Promise<void> {
  await utimes(join(training.folder, 'blobs', key), LONG_AGO, LONG_AGO)
}

/** Those of the keys that have a blob. */
async function keptOf(keys: readonly string[]): Promise<string[]> {
  const found = await Promise.all(keys.map((key) => server.stores.blobs.stat(key)))
  return keys.filter((_, index) => found[index] !== undefined)
}

const run = () => sweep.sweep(new AbortController().signal)

describe('the sweep of blobs', () => {
  it('deletes old ones that nothing owns, of every kind, and counts them', async () => {
    const keys = [
      `contents/${randomUUID()}`,
      `trajectory-groups/${randomUUID()}.jsonl`,
      `logged-trajectories/${randomUUID()}.jsonl`,
      `files/zz/${'z'.repeat(43)}`,
    ]
    await Promise.all(keys.map(put))
    await run()
    expect(await keptOf(keys)).toEqual([])
    expect(sweep.counts()).toEqual({ deleted: keys.length, failed: 0 })
    await run()
    expect(sweep.counts().deleted).toBe(keys.length)
  })

  it('keeps blobs that are owned, recent, or of unknown kinds', async () => {
    const project_id = server.newProject()
    const form = new FormData()
    form.set('project_id', project_id)
    form.set('file', new Blob(['kept']), 'file.txt')
    const file = await replyOf(await server.request('/file/create', { method: 'POST', body: form }))
    const model = await training.newModel()
    await training.end(await training.startJob(model.id, [group()]))
    const old = await Promise.all(['health/probe', 'other/thing'].map(put))
    await server.stores.blobs.put('contents/young', Buffer.from('x'))
    for await (const { key } of server.stores.blobs.list('')) {
      if (key !== 'contents/young') await age(key)
    }
    await run()
    expect(sweep.counts()).toEqual({ deleted: 0, failed: 0 })
    expect(await keptOf(old)).toEqual(old)
    const content = await server.post('/file/content', { project_id, digest: file['digest'] })
    expect(await content.text()).toBe('kept')
    const checkpoint = `/v1/preview/models/${model.id}/checkpoints/1`
    const { files } = await json<{ files: { name: string }[] }>(await server.request(checkpoint))
    for (const { name } of files)
      expect((await server.request(`${checkpoint}/files/${name}`)).status).toBe(200)
  })

  it('goes on with other kinds where the owners of one cannot be read, and counts that', async () => {
    const { blobs } = server.stores
    const broken = { prefix: 'contents/', ownedOf: () => Promise.reject(new Error('no database')) }
    const owners = [broken, filesOwner(server.stores.traces)]
    const other = createBlobSweep({ blobs, owners, log: SILENT })
    const kept = await put(`contents/${randomUUID()}`)
    const orphan = await put(`files/yy/${'y'.repeat(43)}`)
    await other.sweep(new AbortController().signal)
    expect(await keptOf([kept, orphan])).toEqual([kept])
    expect(other.counts()).toEqual({ deleted: 1, failed: 1 })
  })
})
