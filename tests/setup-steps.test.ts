import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSteps } from '../scripts/steps.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-steps-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the steps of set-up', () => {
  it('end with all that they have started when they are stopped, and no further one starts', async () => {
    const started = join(folder, 'started')
    const another = join(folder, 'another')
    const stop = new AbortController()
    const running = runSteps(
      'steps',
      [
        {
          command: ['sh', '-c', `sleep 600 & echo $! > ${started}; wait`],
          total: 0,
          otherwise: { command: ['touch', another], total: 0 },
        },
        { command: ['touch', another], total: 0 },
      ],
      stop.signal,
    )
    running.catch(() => undefined)
    await expect.poll(() => existsSync(started) && readFileSync(started, 'utf8')).toMatch(/^\d+\n$/)
    stop.abort()
    await expect(running).rejects.toThrow()
    // Its parent is gone, so that init may not have taken note of its end yet.
    const pid = Number(readFileSync(started, 'utf8'))
    await expect.poll(() => isRunning(pid)).toBe(false)
    expect(existsSync(another)).toBe(false)
  })
})

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
