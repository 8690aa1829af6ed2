import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SERVER_PROGRAM } from '../../scripts/server-build.ts'
import { seeded } from '../../src/test-random.ts'
import { lossesOf, send, type Write, writersOf } from './crash-writers.ts'
import { createDiskFiller } from './disk-filler.ts'
import { createFailingDisk, type Fault } from './failing-disk.ts'
import { KEY, startServer, type WireServer } from './server.ts'

const PROJECT = 'wire/faults'
const WRITERS = 8
/** A write must have an answer, however slow the machine is. */
const ANSWER_MS_MAX = 60_000

const disk = createFailingDisk()
const writers = writersOf(PROJECT, seeded(1))
const acknowledged: Write[] = []

let server: WireServer

beforeAll(async () => {
  server = await startServer({ HEDDLE_ENGINE_PYTHON: '/nonexistent/python' }, { launcher: disk.launcher })
})
afterEach(() => disk.recover())
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  disk[Symbol.dispose]()
})

/** The file that each kind of write changes first; a new project becomes a row of SQLite. */
const STORES = {
  'the trace database': { path: /\/trace-db\//, make: () => writers['calls/complete']?.() ?? [] },
  blobs: { path: /\/blobs\//, make: () => writers['file']?.() ?? [] },
  SQLite: { path: /\/control\.sqlite/, make: writeToNewProject },
}

function writeToNewProject(): Write[] {
  const project_id = `wire/${randomUUID()}`
  const obj = { project_id, object_id: 'o', val: {} }
  return [{ path: '/obj/create', body: { obj }, facts: () => [] }]
}

const CASES = (Object.keys(STORES) as (keyof typeof STORES)[]).flatMap((store) =>
  (['sync', 'rename', 'write'] as const)
    // SQLite appends to its log, and renames nothing.
    .filter((call) => store !== 'SQLite' || call !== 'rename')
    .flatMap((call) => (['EIO', 'ENOSPC'] as const).map((errno) => ({ store, call, errno }))),
)

interface Answer {
  status: number
  retryAfter: string | null
  reason: unknown
}

/** Sends a write that may be refused; one that is not counts as acknowledged. */
async function attempt(write: Write): Promise<Answer> {
  const response = await fetch(`${server.url}${write.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: write.body instanceof FormData ? write.body : JSON.stringify(write.body),
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  })
  const reply = (await response.json()) as Record<string, unknown>
  if (response.status === 200) {
    write.reply = reply
    acknowledged.push(write)
  }
  return { status: response.status, retryAfter: response.headers.get('retry-after'), reason: reply['reason'] }
}

/** Repeats a refused write, as clients do; meanwhile the server repairs what the disk left broken. */
async function repeat(writes: readonly Write[]): Promise<void> {
  for (const write of writes) {
    await expect.poll(async () => (await attempt(write)).status).toBe(200)
  }
}

/** Everything acknowledged is there once, as it was written, without a restart. */
async function expectNoLoss(): Promise<void> {
  await expect.poll(() => lossesOf(server.url, PROJECT, acknowledged).catch(String)).toEqual([])
}

async function restart(): Promise<void> {
  await server.signal('SIGKILL')
  await server.start()
}

describe('a disk that fails', () => {
  it.each(CASES)(
    '$store, $call, $errno: 503 with a reason, and after it the same write succeeds',
    async ({ store, ...fault }) => {
      const { path, make } = STORES[store]
      await repeat(make())
      const writes = Array.from({ length: WRITERS }, make).flat()
      disk.fail({ ...fault, path })
      const answers = await Promise.all(writes.map(attempt))
      const failures = disk.failures()
      disk.recover()
      expect(failures).not.toEqual([])
      for (const answer of answers) {
        expect(answer).toEqual({
          status: 503,
          retryAfter: expect.stringMatching(/^\d+$/),
          reason: expect.stringMatching(/disk|store/),
        })
      }
      await expectNoLoss()
      await repeat(writes)
      await expectNoLoss()
    },
  )

  it('shows every refused row as rejected at GET /metrics, and none as pending', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    const of = (name: string) =>
      Number(new RegExp(`^heddle_writes_${name}\\{table="calls"\\} (\\d+)$`, 'm').exec(text)?.[1])
    expect(of('rejected_total')).toBeGreaterThan(0)
    expect(of('pending')).toBe(0)
    expect(of('accepted_total')).toBe(of('applied_total') + of('rejected_total'))
  })

  it('has lost nothing of this after a kill and a restart', async () => {
    await restart()
    expect(await lossesOf(server.url, PROJECT, acknowledged)).toEqual([])
  })
})

describe('a disk that fails while the trace database merges parts', () => {
  it.each(['write', 'sync', 'rename'] as const)('%s: loses nothing, and needs no restart', async (call) => {
    const fault: Fault = { call, path: /tmp_merge|\/all_\d+_\d+_[1-9]/, errno: 'EIO' }
    disk.fail(fault)
    for (let inserts = 0; disk.failures().length === 0; inserts++) {
      expect(inserts).toBeLessThan(500)
      const [write] = writers['calls/complete']?.() ?? []
      if (write !== undefined) await attempt(write)
    }
    disk.recover()
    await expectNoLoss()
    await restart()
    expect(await lossesOf(server.url, PROJECT, acknowledged)).toEqual([])
  })
})

describe('a full disk', () => {
  it('503 with a reason for every kind of write, reads go on; with free space all succeeds without a restart', async () => {
    await using small = await startServer(
      { HEDDLE_ENGINE_PYTHON: '/nonexistent/python' },
      { diskMegabytes: 128 },
    )
    const project = 'wire/full'
    const all = Object.values(writersOf(project, seeded(2)))
    const before = all.flatMap((make) => make())
    for (const write of before) await send(small.url, write)
    const writes = [...all.flatMap((make) => make()), ...writeToNewProject()]

    const folder = `/proc/${small.processes(SERVER_PROGRAM)[0]}/root${join(small.folder, 'data')}`
    const filler = createDiskFiller(() => folder)
    for (const write of writes) {
      // What failed may have freed the space of its files.
      filler.fill()
      await expect(send(small.url, write), write.path).rejects.toThrow(/: 503 \{"reason":".*disk.*"\}/)
    }
    expect(await lossesOf(small.url, project, before)).toEqual([])
    const health = async () => {
      const response = await fetch(`${small.url}/health`)
      return { code: response.status, ...((await response.json()) as object) }
    }
    expect(await health()).toMatchObject({
      code: 200,
      status: 'degraded',
      reason: expect.stringMatching(/trace_db: the last write failed: .*disk/),
    })

    filler.free()
    for (const write of writes) {
      await expect.poll(() => send(small.url, write).then(String, String)).toBe('undefined')
    }
    expect(await lossesOf(small.url, project, [...before, ...writes])).toEqual([])
    await expect.poll(health).toMatchObject({ status: 'ok' })
  })
})

describe('GET /health', () => {
  it('503 while blobs cannot be written, and 200 when they can again', async () => {
    const health = async () => {
      const response = await fetch(`${server.url}/health`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
      return { status: response.status, ...((await response.json()) as object) }
    }
    disk.fail({ call: 'sync', path: /\/blobs\//, errno: 'EIO' })
    await expect.poll(health).toMatchObject({
      status: 'failing',
      reason: expect.stringMatching(/^blobs: The disk/),
      stores: { trace_db: { ok: true }, control_db: { ok: true }, blobs: { ok: false } },
    })
    disk.recover()
    await expect.poll(health).toMatchObject({ status: 'ok' })
  })
})
