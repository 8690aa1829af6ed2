import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pythonIn } from '../../scripts/python-environments.ts'
import { KEY, type WireServer } from '../wire/server.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The demo's own client program, which samples, scores and trains; disposal ends it. */
export interface DemoTraining extends AsyncDisposable {
  /** Everything that it printed so far, for messages of what fails. */
  output(): string
  /** Resolves with its exit status; null when it was killed. */
  ended: Promise<number | null>
}

/** Begins to train a small model on a server that has an engine. @param onLine every line that the program prints */
export function startDemoTraining(
  server: WireServer,
  { steps, onLine = () => {} }: { steps: number; onLine?: (line: string) => void },
): DemoTraining {
  const options = ['--base-url', server.url, '--api-key', KEY, '--steps', String(steps)]
  const client = spawn(pythonIn('clients'), [join(ROOT, 'demo/train.py'), ...options], {
    env: { ...process.env, WEAVE_SERVER_CACHE_DIR: join(server.folder, 'cache') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: string[] = []
  for (const stream of [client.stdout, client.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      chunks.push(chunk)
      for (const line of chunk.split('\n')) if (line.trim() !== '') onLine(line)
    })
  }
  const ended = once(client, 'close').then(([code]) => code as number | null)
  return {
    output: () => chunks.join(''),
    ended,
    async [Symbol.asyncDispose]() {
      client.kill()
      await ended
    },
  }
}
