import { existsSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lockFolder } from '../scripts/folder-lock.mjs'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-lock-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A lock as another process has left it. */
function leave(name: string, pid: number, touchedAt: Date): string {
  const lock = join(folder, `${name}.lock`)
  writeFileSync(lock, String(pid))
  utimesSync(lock, touchedAt, touchedAt)
  return lock
}

describe('the lock of set-up', () => {
  it('is taken from a process that has ended', async () => {
    const lock = leave('ended', 2 ** 30, new Date())
    const release = await lockFolder(join(folder, 'ended'))
    release()
    expect(existsSync(lock)).toBe(false)
  })

  it('is taken from a holder that is gone though another process has its number', async () => {
    leave('reused', process.pid, new Date(Date.now() - 60_000))
    const release = await lockFolder(join(folder, 'reused'))
    release()
  })

  it('is waited for while its holder works', async () => {
    const first = await lockFolder(join(folder, 'held'))
    let isTaken = false
    const second = lockFolder(join(folder, 'held')).then((release) => {
      isTaken = true
      return release
    })
    await new Promise((wake) => setTimeout(wake, 700))
    expect(isTaken).toBe(false)
    first()
    const release = await second
    release()
  })

  it('is not waited for where it cannot be written', async () => {
    await expect(lockFolder(join(folder, 'x'.repeat(300)))).rejects.toThrow('ENAMETOOLONG')
  })

  it('is no longer waited for after its signal', async () => {
    const release = await lockFolder(join(folder, 'kept'))
    const stop = new AbortController()
    const waiting = lockFolder(join(folder, 'kept'), stop.signal)
    stop.abort()
    await expect(waiting).rejects.toThrow()
    expect(existsSync(join(folder, 'kept.lock'))).toBe(true)
    release()
  })
})
