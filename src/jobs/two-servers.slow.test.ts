import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { migrateControlDb } from '../stores/control-db/migrate.ts'
import { NO_PEERS } from '../stores/control-db/peers.ts'
import { openSqlite } from '../stores/control-db/sqlite.ts'
import { SILENT } from '../test-log.ts'
import { createJobQueue } from './job-queue.ts'

let folder: string
let control: ReturnType<typeof openSqlite>
let children: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-servers-'))
  control = openSqlite(folder)
  await migrateControlDb(control)
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  children = []
  await control[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Starts a server in a separate process, over the same database file. */
function startServer(name: string, leaseMs = 60_000): ChildProcess {
  const program = join(import.meta.dirname, 'test-server.ts')
  const child = spawn(process.execPath, [program, folder, name, String(leaseMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

async function add(jobs: { id: string; hangsOn: string | null }[]): Promise<void> {
  const kind = {
    kind: 'work',
    concurrency: 1,
    attemptsMax: 2,
    handle: async () => {},
    giveUp: async () => {},
  }
  const payload = z.object({ hangsOn: z.string().nullable() })
  const work = createJobQueue({ control, log: SILENT, peers: { ...NO_PEERS, arePossible: true } }).define({
    ...kind,
    payload,
  })
  await work.add(jobs.map(({ id, hangsOn }) => ({ id, payload: { hangsOn } })))
}

async function untilFinished(): Promise<{ id: string; state: string; attempts: number }[]> {
  return vi.waitFor(
    async () => {
      const rows = await control
        .selectFrom('jobs')
        .select(['id', 'state', 'attempts'])
        .orderBy('id')
        .execute()
      expect(rows.filter(({ state }) => state === 'waiting' || state === 'active')).toEqual([])
      return rows
    },
    { timeout: 200_000, interval: 200 },
  )
}

async function done(): Promise<string[]> {
  return (await readFile(join(folder, 'done'), 'utf8')).trim().split('\n')
}

describe('two servers over one database', () => {
  it('do each job once', async () => {
    const ids = Array.from({ length: 200 }, (_, n) => String(n).padStart(3, '0'))
    await add(ids.map((id) => ({ id, hangsOn: null })))
    startServer('a')
    startServer('b')
    const finished = await untilFinished()
    expect(new Set(finished.map(({ attempts }) => attempts))).toEqual(new Set([1]))
    expect((await done()).map((line) => line.slice(2)).sort()).toEqual(ids)
  })

  it('take over the jobs of the killed one', async () => {
    await add([{ id: 'x', hangsOn: 'a' }])
    const first = startServer('a', 1_000)
    const [begun] = await once(createInterface({ input: first.stdout ?? process.stdin }), 'line')
    expect(begun).toBe('x')
    first.kill('SIGKILL')
    startServer('b', 1_000)
    expect(await untilFinished()).toEqual([{ id: 'x', state: 'completed', attempts: 2 }])
    expect(await done()).toEqual(['b x'])
  })
})
