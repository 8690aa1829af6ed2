import { existsSync, readdirSync, truncateSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../src/test-eventually.ts'
import { createLoad, type Load, readLoad } from './backup/load.ts'
import { startServer } from './backup/server-process.ts'
import { heddle } from './run-command.ts'

const WORKERS = 4

const PROJECT = 'test/backed-up'

/** A file that takes seconds to copy, and no space. */
const LARGE_BYTES = 8 * 1024 ** 3

/** Servers start six times, and some thousand rows and files are compared. */
const MS_MAX = 300_000

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-backup-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const at = (name: string): string => join(folder, name)

async function done(args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await heddle([...args, '--json'])
  expect(code, out + err).toBe(0)
  return JSON.parse(out) as Record<string, unknown>
}

/** Makes a file that a backup takes long to copy. */
async function makeLarge(data: string): Promise<string> {
  const large = join(data, 'blobs/contents/large')
  await mkdir(dirname(large), { recursive: true })
  await writeFile(large, '')
  truncateSync(large, LARGE_BYTES)
  return large
}

/** Reads a load back from a restored data folder. */
async function readRestored(load: Load, data: string): Promise<Set<string>> {
  await using server = await startServer(data)
  const keys = await readLoad(server.url, load)
  await server.stop('SIGTERM')
  return keys
}

/**
 * A backup is a state that the server was in between its begin and its end: what was acknowledged before any write that
 * it has is in it too.
 */
function expectOneMoment(
  { writes }: Load,
  has: Set<string>,
  [begun, ended]: readonly [number, number],
): void {
  const present = writes.filter(({ key }) => has.has(key))
  expect(present.length).toBe(has.size)
  expect(present.filter(({ sent }) => sent > ended)).toEqual([])
  const latest = Math.max(begun, ...present.map(({ sent }) => sent))
  const missing = writes.filter(({ key, acknowledged }) => acknowledged < latest && !has.has(key))
  expect(missing).toEqual([])
}

describe('heddle backup', () => {
  it(
    'of a server under load is one moment between its begin and its end, in a folder and in a file',
    async () => {
      const data = at('loaded')
      await using server = await startServer(data)
      const load = createLoad(server.url, PROJECT)
      let isOver = false
      const running = Array.from({ length: WORKERS }, (_, worker) => load.run(worker, () => isOver))
      await eventually(() => expect(load.writes.length).toBeGreaterThan(200))
      const spans: Record<string, readonly [number, number]> = {}
      for (const name of ['first', 'second.tar']) {
        const begun = load.now()
        const { held_ms } = await done(['backup', at(name), '--data', data])
        expect(held_ms).toBeLessThan(10_000)
        spans[name] = [begun, load.now()]
      }
      isOver = true
      await Promise.all(running)
      await server.stop('SIGTERM')
      for (const [name, span] of Object.entries(spans)) {
        await done(['restore', at(name), '--data', at(`${name}-restored`)])
        expectOneMoment(load, await readRestored(load, at(`${name}-restored`)), span)
      }
      await done(['backup', at('stopped'), '--data', data])
      await done(['restore', at('stopped'), '--data', at('stopped-restored')])
      expect(await readRestored(load, at('stopped-restored'))).toEqual(
        new Set(load.writes.map(({ key }) => key)),
      )
      expect(load.writes.every(({ acknowledged }) => Number.isFinite(acknowledged))).toBe(true)
    },
    MS_MAX,
  )

  it(
    'whose client goes away leaves nothing',
    async () => {
      const data = at('left')
      await using server = await startServer(data)
      await makeLarge(data)
      const leaving = new AbortController()
      const reply = fetch(`${server.url}/v1/preview/system/backup`, {
        method: 'POST',
        headers: { authorization: 'Bearer test-key' },
        body: JSON.stringify({ path: at('unwanted') }),
        signal: leaving.signal,
      }).then((response) => response.text())
      reply.catch(() => undefined)
      await eventually(() => expect(readdirSync(at('unwanted.partial'))).not.toEqual([]))
      leaving.abort()
      await expect(reply).rejects.toThrow()
      await eventually(() => expect(readdirSync(folder)).not.toContain('unwanted.partial'))
      await eventually(() => expect(readdirSync(join(data, 'snapshots'))).toEqual([]))
      await server.stop('SIGTERM')
    },
    MS_MAX,
  )

  it(
    'that was interrupted by a kill is no backup; the next start removes what was kept for it, and it can be repeated',
    async () => {
      const data = at('killed')
      await using server = await startServer(data)
      const large = await makeLarge(data)
      const backup = heddle(['backup', at('cut'), '--data', data])
      await eventually(() => expect(readdirSync(at('cut.partial'))).not.toEqual([]))
      await server.stop('SIGKILL')
      expect((await backup).code).toBe(1)
      expect(existsSync(at('cut'))).toBe(false)
      const restored = await heddle(['restore', at('cut.partial'), '--data', at('of-cut')])
      expect(restored.code).toBe(1)
      expect(restored.err).toContain('is not a whole backup')
      expect(existsSync(at('of-cut'))).toBe(false)

      await rm(large)
      await using again = await startServer(data)
      expect(existsSync(join(data, 'snapshots'))).toBe(false)
      expect(existsSync(join(data, 'trace-db/shadow'))).toBe(false)
      await done(['backup', at('cut'), '--data', data])
      await again.stop('SIGTERM')
      expect(await readdir(folder)).not.toContain('cut.partial')
      await done(['restore', at('cut'), '--data', at('of-cut')])
    },
    MS_MAX,
  )
})
