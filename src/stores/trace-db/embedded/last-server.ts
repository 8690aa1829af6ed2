import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

/** It ends as soon as it notices that its server has. */
const END_MS_MAX = 10_000

const POLL_MS = 50

/**
 * Resolves when the ClickHouse process that has used a folder last has ended: after its server was killed, it may still
 * write for a moment.
 * @throws Error when it does not end
 */
export async function untilServerEnded(path: string): Promise<void> {
  // ClickHouse writes the id of its process there.
  const status = await readFile(join(path, 'status'), 'utf8').catch(() => '')
  const pid = /^PID: (\d+)/.exec(status)?.[1]
  const giveUpAt = performance.now() + END_MS_MAX
  while (pid !== undefined && (await isServing(pid, path))) {
    if (performance.now() > giveUpAt) throw new Error(`Process ${pid} still uses ${path}`)
    await delay(POLL_MS)
  }
}

/** The id of a process that has ended may be another one's. */
async function isServing(pid: string, path: string): Promise<boolean> {
  const listed = await promisify(execFile)('ps', ['-o', 'args=', '-p', pid]).catch(() => undefined)
  return listed?.stdout.includes(path) ?? false
}
