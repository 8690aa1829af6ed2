import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { chmod, mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { holderOf, openDataFolder, openingOf } from './data-folder.ts'

const run = promisify(execFile)

/** Opens the folder in another process, which prints the result. */
async function openElsewhere(folder: string): Promise<string> {
  const module = join(import.meta.dirname, 'data-folder.ts')
  const program = `import { holderOf, openDataFolder } from ${JSON.stringify(module)}
    try { openDataFolder(${JSON.stringify(folder)}, 'server'); console.log('opened') } catch (error) { console.log(error.message) }`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program])
  return stdout.trim()
}

describe('openDataFolder', () => {
  it('is refused to a second process, which hears who holds it, and free again after disposal', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-lock-'))
    {
      using _held = openDataFolder(folder, 'server')
      const message = await openElsewhere(folder)
      expect(message).toContain('in use by another Heddle')
      expect(message).toContain(`process ${process.pid}`)
    }
    expect(await openElsewhere(folder)).toBe('opened')
  })

  it('is free after its holder was killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-lock-'))
    const module = join(import.meta.dirname, 'data-folder.ts')
    const program = `import { holderOf, openDataFolder } from ${JSON.stringify(module)}
      openDataFolder(${JSON.stringify(folder)}, 'server'); process.kill(process.pid, 'SIGKILL')`
    await run(process.execPath, ['--input-type=module', '--eval', program]).catch(() => undefined)
    expect(await openElsewhere(folder)).toBe('opened')
  })
})

describe('a data folder', () => {
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

  it('is made for its owner alone, and stays open to others where it exists', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-lock-'))
    const fresh = join(folder, 'above', 'data')
    openDataFolder(fresh, 'server')[Symbol.dispose]()
    expect(modeOf(fresh)).toBe('700')
    expect(openingOf(fresh)).toBeUndefined()
    await chmod(fresh, 0o750)
    expect(openingOf(fresh)).toBeUndefined()
    await chmod(fresh, 0o711)
    openDataFolder(fresh, 'server')[Symbol.dispose]()
    expect(modeOf(fresh)).toBe('711')
    expect(openingOf(fresh)).toEqual({
      detail: `${fresh} is open to all users of this machine (mode 711)`,
      fix: `chmod go-rwx ${fresh}`,
    })
  })

  it('is refused where no folder can be made, as in /proc', () => {
    expect(() => openDataFolder('/proc/heddle/data', 'server')).toThrow('cannot be used: E')
  })
})

describe('holderOf', () => {
  it('is the process that holds the folder, with the address that it announced, and undefined without one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-lock-'))
    expect(holderOf(folder)).toBeUndefined()
    expect(await readdir(folder)).toEqual([])
    {
      using held = openDataFolder(folder, 'server')
      expect(holderOf(folder)).toMatchObject({
        text: expect.stringContaining(`process ${process.pid}`),
        use: 'server',
        url: undefined,
      })
      held.announce('http://127.0.0.1:6060')
      expect(holderOf(folder)).toMatchObject({ url: 'http://127.0.0.1:6060', certificate: undefined })
      held.announce('https://0.0.0.0:6060', 'AB:CD')
      expect(holderOf(folder)).toMatchObject({ url: 'https://0.0.0.0:6060', certificate: 'AB:CD' })
    }
    expect(holderOf(folder)).toBeUndefined()
  })
})
