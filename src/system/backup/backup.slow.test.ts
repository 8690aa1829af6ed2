import { appendFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { restoreBackup } from '../../stores/backup/restore.ts'
import { controlMigrations } from '../../stores/control-db/migrate.ts'
import { openTestApp, type TestApp } from '../../test-app.ts'
import { documentsOf, type Fields, replyOf, useTestServer } from '../../testing.ts'
import { VERSION } from '../../version.ts'

const server = useTestServer()
const folders = await mkdtemp(join(tmpdir(), 'heddle-backups-'))
afterAll(() => rm(folders, { recursive: true, force: true }))

const MIGRATIONS = [...(await controlMigrations()).keys()]

async function backUp(name: string): Promise<{ path: string; report: Fields | undefined }> {
  const path = join(folders, name)
  const lines = await documentsOf<Fields>(await server.post('/v1/preview/system/backup', { path }))
  return { path, report: lines.at(-1) }
}

function restore(path: string, name: string): Promise<unknown> {
  return restoreBackup(path, join(folders, name), { version: VERSION, migrations: MIGRATIONS })
}

/** Writes one after the other, each to a store of its own: a run, a file, then a call. */
function createWriter(project_id: string) {
  const [entity, project] = project_id.split('/')
  const acknowledged = { runs: 0, files: [] as string[], calls: 0 }
  let isStopped = false

  async function step(index: number): Promise<void> {
    const input = `{ entityName: "${entity}", modelName: "${project}", name: "run-${index}" }`
    await replyOf(
      await server.post('/graphql', { query: `mutation { upsertBucket(input: ${input}) { inserted } }` }),
    )
    acknowledged.runs = index + 1
    const form = new FormData()
    form.set('project_id', project_id)
    form.set('file', new Blob([`file ${index} of ${project_id}`]), 'file')
    const { digest } = await replyOf(await server.request('/file/create', { method: 'POST', body: form }))
    acknowledged.files.push(String(digest))
    const at = '2026-01-01T00:00:00Z'
    const start = { project_id, op_name: 'op', started_at: at, attributes: {}, inputs: { index } }
    await replyOf(await server.post('/call/start', { start }))
    acknowledged.calls = index + 1
  }

  async function run(): Promise<void> {
    for (let index = 0; !isStopped; index++) await step(index)
  }

  function stop(): void {
    isStopped = true
  }

  return { acknowledged, run, stop }
}

/** What a restored folder has of a project. */
async function contentOf({ app }: TestApp, project_id: string, digests: readonly string[]) {
  const headers = { authorization: 'Bearer key' }
  const post = (path: string, body: object) =>
    app.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const calls = await documentsOf<{ inputs: { index: number } }>(
    await post('/calls/stream_query', { project_id }),
  )
  const [entity, project] = project_id.split('/')
  const query = `{ project(name: "${project}", entityName: "${entity}") { runCount } }`
  const { data } = await replyOf<{ data: { project: { runCount: number } | null } }>(
    await post('/graphql', { query }),
  )
  const files = await Promise.all(
    digests.map(async (digest) => {
      const reply = await post('/file/content', { project_id, digest })
      return reply.status === 200 ? reply.text() : undefined
    }),
  )
  const indexes = calls.map(({ inputs }) => inputs.index).sort((a, b) => a - b)
  return { indexes, runs: data.project?.runCount ?? 0, files }
}

describe('POST /v1/preview/system/backup', () => {
  it('200 with the state of one moment while several clients write, which is whole when it is restored', async () => {
    const projects = [0, 1, 2, 3].map(() => server.newProject())
    const writers = projects.map(createWriter)
    const running = writers.map((writer) => writer.run())
    while (writers.some(({ acknowledged }) => acknowledged.calls < 3)) await new Promise(setImmediate)
    const before = writers.map(({ acknowledged }) => ({ ...acknowledged, files: acknowledged.files.length }))
    const { path, report } = await backUp('under-load')
    const after = writers.map(({ acknowledged }) => ({ ...acknowledged, files: acknowledged.files.length }))
    for (const writer of writers) writer.stop()
    await Promise.all(running)
    expect(report).toMatchObject({ state: 'done', broken_parts: 0 })

    await restore(path, 'restored')
    await using restored = await openTestApp(join(folders, 'restored'))
    for (const [index, project] of projects.entries()) {
      const { indexes, runs, files } = await contentOf(
        restored,
        project,
        writers[index]?.acknowledged.files ?? [],
      )
      const calls = indexes.length
      // One moment: what a client writes in turn to three stores is there up to one of its writes.
      expect(indexes).toEqual(Array.from({ length: calls }, (_, at) => at))
      const whole = files.indexOf(undefined)
      const kept = whole === -1 ? files.length : whole
      expect(files.slice(0, kept)).toEqual(files.slice(0, kept).map((_, at) => `file ${at} of ${project}`))
      expect(files.slice(kept).every((file) => file === undefined)).toBe(true)
      expect([calls, calls + 1], `${calls} calls, ${kept} files`).toContain(kept)
      expect([kept, kept + 1], `${kept} files, ${runs} runs`).toContain(runs)
      expect(calls).toBeGreaterThanOrEqual(before[index]?.calls ?? 0)
      expect(runs).toBeLessThanOrEqual((after[index]?.runs ?? 0) + 1)
    }
  })

  it('200 without the key of secrets', async () => {
    const { path } = await backUp('without-key')
    expect(await readdir(path, { recursive: true })).not.toContain('secret.key')
  })

  it('400 for a path that is not absolute, 409 for one that is not empty', async () => {
    expect((await server.post('/v1/preview/system/backup', { path: 'relative' })).status).toBe(400)
    const full = join(folders, 'full')
    await mkdir(full)
    await writeFile(join(full, 'file'), 'x')
    expect((await server.post('/v1/preview/system/backup', { path: full })).status).toBe(409)
  })
})

describe('restoreBackup', () => {
  it('refuses a backup with a changed file, one without its end, and a folder that is not empty', async () => {
    const { path } = await backUp('damaged')
    await expect(restore(path, 'full')).rejects.toThrow(/empty/)
    const names = await readdir(path, { recursive: true, withFileTypes: true })
    const file = names.find((entry) => entry.isFile() && entry.name === 'control.sqlite')
    await appendFile(join(file?.parentPath ?? '', file?.name ?? ''), 'x')
    await expect(restore(path, 'never')).rejects.toThrow()
    const manifest = names.find((entry) => entry.isFile() && /manifest/.test(entry.name))
    await rm(join(manifest?.parentPath ?? '', manifest?.name ?? ''))
    await expect(restore(path, 'never')).rejects.toThrow()
    expect(await readdir(folders)).not.toContain('never')
  })

  it('refuses a backup of a newer version by its name', async () => {
    const { path } = await backUp('newer')
    const older = MIGRATIONS.slice(0, -1)
    const target = join(folders, 'older')
    await expect(restoreBackup(path, target, { version: VERSION, migrations: older })).rejects.toThrow(
      /newer|version/,
    )
  })
})
