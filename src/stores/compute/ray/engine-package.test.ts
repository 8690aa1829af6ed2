import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packEngine } from './engine-package.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-package-'))
  for (const path of ['src/engine/__pycache__', 'models/tiny', 'tests'])
    mkdirSync(join(folder, path), { recursive: true })
  for (const name of [
    'src/engine/main.py',
    'src/engine/__pycache__/main.pyc',
    'models/tiny/.lock',
    'models/tiny/config.json',
    'tests/test.py',
  ])
    writeFileSync(join(folder, name), name)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The files of a package with their contents. */
async function unpack(bytes: Uint8Array): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for await (const entry of Readable.from([bytes]).pipe(createGunzip()).pipe(extract()))
    files[entry.header.name] = (await buffer(entry)).toString()
  return files
}

describe('packEngine', () => {
  it('has the code and the models of the engine, and nothing else', async () => {
    const { name, bytes } = await packEngine(folder)
    expect(name).toMatch(/^_ray_pkg_[0-9a-f]{32}\.tar\.gz$/)
    expect(await unpack(await bytes())).toEqual({
      'models/tiny/config.json': 'models/tiny/config.json',
      'src/engine/main.py': 'src/engine/main.py',
    })
  })

  it('has another name for another content alone', async () => {
    const { name } = await packEngine(folder)
    expect((await packEngine(folder)).name).toBe(name)
    writeFileSync(join(folder, 'src/engine/main.py'), 'changed')
    expect((await packEngine(folder)).name).not.toBe(name)
  })
})
