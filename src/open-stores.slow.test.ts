import { chmod, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createLog } from './log.ts'
import { openStores } from './open-stores.ts'

const log = createLog({ logLevel: 'silent', logFormat: 'json' })

function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'heddle-open-'))
}

/** The error for a folder that cannot be opened. */
async function refusal(folder: string): Promise<string> {
  const opened = await openStores({ data: folder, workspace: join(folder, 'engine') }, log).catch(
    (error: Error) => error,
  )
  if (opened instanceof Error) return opened.message
  await opened[Symbol.asyncDispose]()
  return 'opened'
}

describe('openStores', () => {
  it.each([
    ['control.sqlite', 'The control database FOLDER/control.sqlite cannot be opened'],
    ['lock.sqlite', 'The data folder FOLDER cannot be used'],
  ])('names what holds %s when that is no database', async (file, said) => {
    const folder = await newFolder()
    await writeFile(join(folder, file), 'no database, '.repeat(1_000))
    const message = await refusal(folder)
    expect(message).toContain(said.replace('FOLDER', folder))
    expect(message).toContain('file is not a database')
    expect(message).not.toContain('in use')
  })

  it('names a data folder that is a file, or lies in one', async () => {
    const file = join(await newFolder(), 'file')
    await writeFile(file, '')
    expect(await refusal(file)).toMatch(`The data folder ${file} cannot be used: EEXIST`)
    expect(await refusal(join(file, 'data'))).toMatch(
      `The data folder ${join(file, 'data')} cannot be used: EEXIST: file already exists, mkdir '${file}'`,
    )
  })

  it('warns of a data folder that others may use, with the command that keeps them out', async () => {
    const folder = await newFolder()
    const warnings: unknown[][] = []
    const listening = Object.assign(createLog({ logLevel: 'silent', logFormat: 'json' }), {
      warn: (...args: unknown[]) => void warnings.push(args),
    })
    const open = async () => {
      const opened = await openStores({ data: folder, workspace: join(folder, 'engine') }, listening)
      await opened[Symbol.asyncDispose]()
    }
    await open()
    expect(warnings).toEqual([])
    await chmod(folder, 0o755)
    await open()
    expect(warnings).toEqual([
      [{ fix: `chmod go-rwx ${folder}` }, expect.stringContaining('is open to all users')],
    ])
  })

  it('names the store of files when a file is where its folder should be', async () => {
    const folder = await newFolder()
    await writeFile(join(folder, 'blobs'), '')
    expect(await refusal(folder)).toMatch(`The file store ${join(folder, 'blobs')} cannot be opened: E`)
  })

  it('names the trace database when a table of it cannot be read', async () => {
    const folder = await newFolder()
    expect(await refusal(folder)).toBe('opened')
    const tables = join(folder, 'trace-db', 'metadata', 'default')
    const files = (await readdir(tables)).filter((name) => name.endsWith('.sql'))
    for (const name of files) await writeFile(join(tables, name), 'ATTACH NOTHING')
    expect(await refusal(folder)).toMatch(
      `The trace database ${join(folder, 'trace-db')} cannot be opened: ClickHouse ended with its start: exit code 1`,
    )
  })
})
