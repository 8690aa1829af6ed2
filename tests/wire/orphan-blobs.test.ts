import { existsSync, readdirSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { KEY, startServer, type WireServer } from './server.ts'
import { until } from './until.ts'

/** Ends the server at once after a blob has got its name, or before one is deleted. */
const CRASH = join(import.meta.dirname, 'clients/crash_at_blob.mjs')

function post(server: WireServer, path: string, body: string | FormData): Promise<Response> {
  return fetch(server.url + path, { method: 'POST', headers: { authorization: `Bearer ${KEY}` }, body })
}

const LINE = '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n'

async function upload(server: WireServer): Promise<string> {
  const reply = await post(server, '/v1/preview/training-data', LINE)
  const { training_data_url } = (await reply.json()) as { training_data_url: string }
  return training_data_url.split('/').at(-1) ?? ''
}

async function createFile(server: WireServer): Promise<void> {
  const body = new FormData()
  body.set('project_id', 'wire/orphans')
  body.set('file', new Blob(['bytes']), 'file.txt')
  await post(server, '/file/create', body)
}

async function deleteUpload(server: WireServer): Promise<void> {
  const id = await upload(server)
  const headers = { authorization: `Bearer ${KEY}` }
  await fetch(`${server.url}/v1/preview/training-data/${id}`, { method: 'DELETE', headers })
}

/** Files below a folder of blobs. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

describe('a crash between a blob and its row', () => {
  it.each([
    ['after a file was put', 'files', 'rename:blobs/files/', createFile],
    ['after an upload was put', 'contents', 'rename:blobs/contents/', upload],
    ['before a deleted upload was removed', 'contents', 'rm:blobs/contents/', deleteUpload],
  ])('%s leaves bytes that a later start deletes, and counts', async (_what, kind, crashAt, act) => {
    const env: Record<string, string> = {
      HEDDLE_ENGINE_PYTHON: '/nonexistent/python',
      NODE_OPTIONS: `--import=${CRASH}`,
      CRASH_AT: crashAt,
    }
    await using server = await startServer(env)
    const ended = server.ended()
    await expect(act(server)).rejects.toThrow()
    expect(await ended).toBeNull()
    const orphans = filesIn(join(server.folder, 'data/blobs', kind))
    expect(orphans).toHaveLength(1)

    delete env['CRASH_AT']
    await server.start()
    expect(orphans.every((path) => existsSync(path))).toBe(true)
    await server.signal('SIGTERM')
    const longAgo = new Date(Date.now() - 48 * 3_600_000)
    for (const path of orphans) await utimes(path, longAgo, longAgo)
    await server.start()
    await until(async () => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text()
      return metrics.includes('heddle_orphan_blobs_deleted_total 1') ? true : undefined
    })
    expect(orphans.filter((path) => existsSync(path))).toEqual([])
  })
})
