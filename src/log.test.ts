import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** Runs a program in a terminal, closes that once the program has written a line, and prints its exit code. */
const IN_TERMINAL = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
os.read(terminal, 1)
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

it.each(['json', 'pretty'])(
  'a process goes on without its log once its terminal has closed: %s',
  async (format) => {
    const program = `
    import { createLog } from ${JSON.stringify(join(import.meta.dirname, 'log.ts'))}
    const log = createLog({ logLevel: 'info', logFormat: '${format}' })
    process.on('SIGHUP', () => {
      log.fatal('after the terminal has closed')
      log.fatal('a second line')
      process.exit(7)
    })
    log.info('begun')
    setInterval(() => undefined, 1e6)`
    const args = ['-c', IN_TERMINAL, process.execPath, '--input-type=module', '-e', program]
    expect((await promisify(execFile)('python3', args, { timeout: 30_000 })).stdout.trim()).toBe('7')
  },
)
