import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pythonIn } from '../../scripts/python-environments.ts'
import type { Scenario } from './scenario.ts'

/** A server around the implementation that Heddle is compared with. */
export interface Reference extends AsyncDisposable {
  readonly url: string
  /** What it wrote to its standard error, for messages of failing tests. */
  log(): string
}

/** Starts it over an empty store; it listens on a free port. @throws Error with its log when it ends instead. */
export async function startReference(store: Scenario['store']): Promise<Reference> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-reference-'))
  const program = join(import.meta.dirname, 'reference_server.py')
  const child = spawn(pythonIn('reference'), [program, store, join(folder, 'data')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its client library would look for settings and credentials of the person at this machine.
    env: { PATH: process.env['PATH'], HOME: folder, WEAVE_DISABLED: 'true' },
  })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
  return {
    url: await listening(child, lines),
    log: () => lines.join('\n'),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) {
        child.kill('SIGKILL')
        await once(child, 'close')
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function listening(child: ChildProcess, lines: string[]): Promise<string> {
  return new Promise((fulfil, reject) => {
    if (child.stdout !== null) createInterface({ input: child.stdout }).once('line', fulfil)
    child.once('close', () => reject(new Error(`The reference ended:\n${lines.join('\n')}`)))
  })
}
