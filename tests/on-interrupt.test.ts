import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../scripts/repository.ts'

describe('an interrupted command', () => {
  it('cleans up, though Ctrl-C comes twice: from the terminal, and from npm', async () => {
    const script = `
      import { onInterrupt } from './scripts/on-interrupt.ts'
      const { signal } = onInterrupt('Interrupted')
      signal.addEventListener('abort', () => {
        process.kill(process.pid, 'SIGINT')
        console.log(signal.reason.message)
        clearInterval(work)
      })
      const work = setInterval(() => undefined, 1e6)
      process.kill(process.pid, 'SIGINT')`
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT })
    expect((await run).stdout).toBe('Interrupted\n')
  })
})
