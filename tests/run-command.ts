import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ROOT } from '../scripts/repository.ts'

/** What a command has done. */
export interface Ran {
  code: number | null
  out: string
  err: string
}

/** Runs a file of `scripts/` to its end. */
export async function runCommand(
  file: string,
  args: readonly string[],
  { cwd = ROOT, env = {} }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [join(ROOT, 'scripts', file), ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ran: Ran = { code: null, out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    ran.out += String(chunk)
  })
  child.stderr.on('data', (chunk) => {
    ran.err += String(chunk)
  })
  const [code] = await once(child, 'close')
  return { ...ran, code: code as number | null }
}

/** Runs the command `heddle` to its end. */
export function heddle(
  args: readonly string[],
  cwd: string = ROOT,
  env: NodeJS.ProcessEnv = {},
): Promise<Ran> {
  return runCommand('heddle.mjs', args, { cwd, env })
}
