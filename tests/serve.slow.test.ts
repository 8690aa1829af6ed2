import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../scripts/repository.ts'
import { holderOf } from '../src/stores/data-folder.ts'
import { runCommand } from './run-command.ts'

/** Where the pages have changed since they were built, a start builds them first. */
const START_MS_MAX = 120_000

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-serve-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The environment of a server without an engine, on a machine whose Python makes environments without end. */
function environment(name: string) {
  const bin = join(folder, `${name}-bin`)
  const installer = join(folder, `${name}-installer`)
  mkdirSync(bin)
  const python = join(bin, 'python3.13')
  writeFileSync(
    python,
    `#!/bin/sh\ncase "$1" in -c) echo 3 13;; *) echo $$ > ${installer}; exec sleep 600;; esac\n`,
  )
  chmodSync(python, 0o755)
  const cache = join(folder, `${name}-cache`)
  const env = {
    PATH: `${bin}${delimiter}${process.env['PATH']}`,
    HEDDLE_CACHE: cache,
    HEDDLE_DATA: join(folder, `${name}-data`),
    HEDDLE_ENGINE_PYTHON: '',
    HEDDLE_PORT: '0',
  }
  return { env, cache, installer }
}

describe('heddle serve', () => {
  it('1 for wrong settings, before anything is installed', async () => {
    const { env, cache } = environment('wrong')
    const { code, err } = await runCommand('heddle.ts', ['serve', '--log', 'nonsense'], { env })
    expect(code).toBe(1)
    expect(err).toContain('HEDDLE_LOG')
    expect(existsSync(cache)).toBe(false)
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'ends the installation of the engine with the server: %s',
    async (signal) => {
      const { env, cache, installer } = environment(signal)
      await using server = startHeddle(env)
      await expect.poll(() => holderOf(env.HEDDLE_DATA)?.url, { timeout: START_MS_MAX }).toMatch(/^http/)
      await expect.poll(() => existsSync(installer) && readFileSync(installer, 'utf8')).toMatch(/^\d+\n$/)
      const pid = Number(readFileSync(installer, 'utf8'))
      expect(await server.end(signal)).toEqual([0, null])
      expect(() => process.kill(pid, 0)).toThrow('ESRCH')
      expect(
        readdirSync(cache, { recursive: true }).filter((name) => String(name).endsWith('.lock')),
      ).toEqual([])
      expect(server.err()).not.toContain('could not be installed')
    },
    2 * START_MS_MAX,
  )
})

/** `heddle serve` in a process of its own, which disposal ends. */
function startHeddle(env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [join(ROOT, 'scripts/heddle.ts'), 'serve'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  let err = ''
  child.stderr.on('data', (chunk) => {
    err += String(chunk)
  })
  return {
    err: () => err,
    /** Resolves with its exit code and the signal that ended it. */
    end(signal: NodeJS.Signals) {
      child.kill(signal)
      return closed
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await closed
    },
  }
}
