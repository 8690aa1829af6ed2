import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from './run-command.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-arguments-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs a script whose environments and temporary files would be in the folder. */
function run(name: string, args: readonly string[]) {
  return runCommand(`${name}.ts`, args, {
    env: { HEDDLE_CACHE: join(folder, 'cache'), TMPDIR: folder, HEDDLE_PORT: '' },
  })
}

describe('scripts with arguments', () => {
  it.each([
    ['gen', ['--chekc'], "Unknown option '--chekc'"],
    ['lock-python', ['--nonsense'], "Unknown option '--nonsense'"],
    ['newer-clients', ['weave'], "Unexpected argument 'weave'"],
    ['screenshots', ['home', 'nonsense'], 'No shot is called nonsense'],
    ['bench', ['nonsense'], "unknown command 'nonsense'"],
    ['bench', ['chat', '--json=/tmp/x', '--round', '3'], "unknown option '--round'"],
    ['bench', ['soak', '--hours', '3'], "unknown option '--hours'"],
    ['bench', ['soak', '3'], 'too many arguments'],
    ['bench', [], 'Usage: npm run bench'],
    ['demo', ['--nonsense'], "Unknown option '--nonsense'"],
    ['demo', ['--port', 'abc'], '--port, or HEDDLE_PORT, is a number from 0 to 65535'],
    ['demo', ['--port', ''], '--port, or HEDDLE_PORT, is a number from 0 to 65535'],
    ['demo', ['--port', '65536'], '--port, or HEDDLE_PORT, is a number from 0 to 65535'],
    ['demo', ['--steps', '1.5'], '--steps is a whole number'],
    ['demo', ['--task', 'sum'], '--task is sums or preference'],
    ['demo-loop', ['--rounds', 'x'], '--rounds is a whole number'],
  ])('2 for %s %j, with the usage and before it does anything', async (name, args, mistake) => {
    const { code, out, err } = await run(name, args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(mistake)
    expect(err).toContain('Usage: npm run ')
    expect(await readdir(folder)).toEqual([])
  })

  it.each(['gen', 'lock-python', 'newer-clients', 'screenshots', 'bench', 'demo', 'test'])(
    '0 for %s --help, which prints the usage and leaves nothing behind',
    async (name) => {
      const { code, out, err } = await run(name, ['--help'])
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toMatch(/^Usage: npm /)
      expect(await readdir(folder)).toEqual([])
    },
  )
})
