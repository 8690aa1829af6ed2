import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { newId } from '../../ids.ts'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { engineLogsFolder } from '../../stores/processes/log-folder.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { replyOf, useTestServer } from '../../testing.ts'
import type { DISK_PARTS, DiskRes, EngineLogPieceRes, EngineLogsRes } from './wire.ts'

let folder = ''
const server = useTestServer({
  compute(dataFolder) {
    folder = dataFolder
    return openFakeCompute(dataFolder)
  },
})

async function writeLog(name: string, text: string): Promise<void> {
  await mkdir(engineLogsFolder(folder), { recursive: true })
  await writeFile(join(engineLogsFolder(folder), name), text)
}

async function pieceOf(name: string, query = ''): Promise<z.output<typeof EngineLogPieceRes>> {
  return replyOf(await server.request(`/v1/preview/system/logs/${name}${query}`))
}

describe('GET /v1/preview/system/disk', () => {
  it('200 with the bytes of each part, and those of one measurement for all who ask soon', async () => {
    await writeLog('measured.log', 'x'.repeat(12_345))
    const trained = { entity: 'test', project: newId(), name: newId(), base_model: TEST_BASE_MODEL }
    expect((await server.post('/v1/preview/models', trained)).status).toBe(200)
    const call = { id: newId(), trace_id: newId(), op_name: 'op', attributes: {}, inputs: {} }
    const start = { ...call, project_id: server.newProject(), started_at: '2026-01-01T00:00:00Z' }
    expect((await server.post('/call/start', { start })).status).toBe(200)
    const [disk, again] = await Promise.all(
      ['', ''].map(async () =>
        replyOf<z.output<typeof DiskRes>>(await server.request('/v1/preview/system/disk')),
      ),
    )
    const bytesOf = (name: (typeof DISK_PARTS)[number]) =>
      disk?.parts.find((part) => part.name === name)?.bytes ?? 0
    expect(disk).toMatchObject({ data_folder: folder, complete: true })
    expect(bytesOf('trace_db')).toBeGreaterThan(0)
    expect(bytesOf('control_db')).toBeGreaterThan(0)
    expect(bytesOf('checkpoints')).toBeGreaterThan(0)
    expect(bytesOf('logs')).toBeGreaterThanOrEqual(12_345)
    expect(disk?.volume.free_bytes).toBeLessThanOrEqual(disk?.volume.total_bytes ?? 0)
    expect(again).toEqual(disk)
    expect(await replyOf(await server.request('/v1/preview/system/disk'))).toEqual(disk)
  })

  it('401 without a key', async () => {
    const reply = await server.request('/v1/preview/system/disk', { headers: { authorization: '' } })
    expect(reply.status).toBe(401)
  })
})

describe('GET /v1/preview/system/logs', () => {
  it('200 with the existing logs, and no other file of their folder', async () => {
    await writeLog('listed.log', 'one\n')
    await writeLog('no-log.txt', 'secret')
    const { logs } = await replyOf<z.output<typeof EngineLogsRes>>(
      await server.request('/v1/preview/system/logs'),
    )
    expect(logs).toContainEqual({ name: 'listed.log', size_bytes: 4, changed_at: expect.any(String) })
    expect(logs.map(({ name }) => name)).not.toContain('no-log.txt')
  })

  it('401 without a key', async () => {
    const reply = await server.request('/v1/preview/system/logs', { headers: { authorization: '' } })
    expect(reply.status).toBe(401)
  })
})

describe('GET /v1/preview/system/logs/{name}', () => {
  const LINES = Array.from({ length: 1000 }, (_, index) => `line ${index} – ünïcode\n`).join('')

  it('200 with the last whole lines, and lines written since', async () => {
    await writeLog('tail.log', `${LINES}half`)
    const last = await pieceOf('tail.log', '?bytes_max=4096')
    expect(last.text).toMatch(/^line \d+ – ünïcode\n/)
    expect(last.text.endsWith('line 999 – ünïcode\n')).toBe(true)
    expect(Buffer.byteLength(last.text)).toBeLessThanOrEqual(4096)
    expect(await pieceOf('tail.log', `?from=${last.until}`)).toMatchObject({ from: last.until, text: '' })
    await writeLog('tail.log', `${LINES}half a line\nnext\n`)
    expect(await pieceOf('tail.log', `?from=${last.until}`)).toMatchObject({ text: 'half a line\nnext\n' })
  })

  it('200 with the whole log, piece by piece', async () => {
    await writeLog('whole.log', LINES)
    let text = ''
    for (let from = 0, size = 1; from < size; ) {
      const piece = await pieceOf('whole.log', `?from=${from}&bytes_max=4096`)
      expect(piece.from).toBe(from)
      text += piece.text
      from = piece.until
      size = piece.size_bytes
    }
    expect(text).toBe(LINES)
  })

  it('200 with the last piece of a log that has been rotated', async () => {
    await writeLog('anew.log', 'first\n')
    expect(await pieceOf('anew.log', '?from=4000')).toMatchObject({ from: 0, until: 6, text: 'first\n' })
  })

  it('404 for a log that is not in the list, under any name', async () => {
    await writeLog('no-log.txt', 'secret')
    for (const name of ['unknown.log', 'no-log.txt', '..%2F..%2Fholder.txt', '..%2Flogs%2Flisted.log', '.'])
      expect((await server.request(`/v1/preview/system/logs/${name}`)).status).toBe(404)
  })

  it('422 for an invalid piece', async () => {
    await writeLog('asked.log', 'line\n')
    for (const query of ['from=-1', 'from=x', 'bytes_max=10', 'bytes_max=999999999'])
      expect((await server.request(`/v1/preview/system/logs/asked.log?${query}`)).status).toBe(422)
  })

  it('401 without a key', async () => {
    const reply = await server.request('/v1/preview/system/logs/x.log', { headers: { authorization: '' } })
    expect(reply.status).toBe(401)
  })
})
