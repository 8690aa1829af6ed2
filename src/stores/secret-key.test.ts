import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSecretKey } from './secret-key.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-key-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const hashOf = async (): Promise<string> => (await openSecretKey(folder, undefined)).hash('test', 'text')

describe('the key of a data folder', () => {
  it('is made once, for its owner alone', async () => {
    expect(await hashOf()).toBe(await hashOf())
    expect(((await stat(join(folder, 'secret.key'))).mode & 0o777).toString(8)).toBe('600')
    expect(await readdir(folder)).toEqual(['secret.key'])
  })

  it('is made by the next start where the first one ended before it was written', async () => {
    const module = new URL('secret-key.ts', import.meta.url).href
    const program = `const { openSecretKey } = await import(${JSON.stringify(module)})
      await openSecretKey(${JSON.stringify(folder)}, undefined)`
    const command = [process.execPath, '--input-type=module', '-e', program]
    // A process that may write no bytes to files ends with the first that it writes.
    const ended = promisify(execFile)('bash', ['-c', 'ulimit -f 0; exec "$0" "$@"', ...command])
    await expect(ended).rejects.toThrow()
    expect(await hashOf()).toBe(await hashOf())
    expect(await readdir(folder)).toEqual(['secret.key'])
  })
})
