import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../../test-eventually.ts'
import { createScorerProcesses } from './scorer-processes.ts'

/** Answers each line with the id of its process. */
const PROGRAM = '#!/bin/sh\nwhile read line; do echo $$; done\n'

/** Reads lines and answers none. */
const SILENT = '#!/bin/sh\ncat > /dev/null\n'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-scorers-'))
  await writeFile(join(folder, 'python'), PROGRAM, { mode: 0o755 })
  await writeFile(join(folder, 'silent'), SILENT, { mode: 0o755 })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('a process that ended while it was idle is replaced, and one that did not is used again', async () => {
  using processes = createScorerProcesses({ find: () => join(folder, 'python'), confinement: 'none' })
  const first = Number(await processes.ask('e/p', () => '{}'))
  expect(Number(await processes.ask('e/p', () => '{}'))).toBe(first)
  process.kill(first, 'SIGKILL')
  // It is gone once Node has noticed its end.
  await eventually(() => expect(() => process.kill(first, 0)).toThrow('ESRCH'))
  expect(Number(await processes.ask('e/p', () => '{}'))).not.toBe(first)
})

it('projects take turns, however many scores each waits for', async () => {
  using processes = createScorerProcesses({ find: () => join(folder, 'python'), confinement: 'none' })
  let ended = 0
  const ask = (owner: string) => processes.ask(owner, () => '{}').then(() => ended++)
  const flood = Array.from({ length: 300 }, () => ask('flood/p'))
  await ask('other/p')
  // It has the second turn; its process may be slower than the other one, which goes on with the flood.
  expect(ended).toBeLessThan(200)
  await Promise.all(flood)
})

it('a project with too many waiting scores is refused further ones, and another is not', async () => {
  let ended: Promise<PromiseSettledResult<string>[]>
  {
    using processes = createScorerProcesses({ find: () => join(folder, 'silent'), confinement: 'none' })
    const flood = Array.from({ length: 10_002 }, () => processes.ask('flood/p', () => '{}'))
    ended = Promise.allSettled([...flood, processes.ask('other/p', () => '{}')])
    await expect(processes.ask('flood/p', () => '{}')).rejects.toThrow('10000 scores of flood')
  }
  const reasons = (await ended).map((one) => (one.status === 'rejected' ? String(one.reason) : one.value))
  expect(new Set(reasons)).toEqual(
    new Set([expect.stringContaining('program that runs scorers ended'), expect.stringContaining('stops')]),
  )
})
