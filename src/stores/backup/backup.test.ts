import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDataFolder } from '../data-folder.ts'
import { MANIFEST } from './manifest.ts'
import { restoreBackup } from './restore.ts'
import { filesOf, type Snapshot } from './snapshot.ts'
import { checkTarget, writeBackup } from './write-backup.ts'

const FILES = {
  'control.sqlite': 'rows',
  'blobs/contents/1': 'one',
  'trace-db/store/a/b/all_1_1_0/data.bin': 'part',
}

const LINK = { name: 'trace-db/metadata/default', target: '../store/a/b' }

const PROGRAM = { version: '1.2.0', migrations: ['0001-first.ts', '0002-second.ts'] }

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-backup-'))
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(at(`data/${name}`)), { recursive: true })
    await writeFile(at(`data/${name}`), text)
  }
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const at = (name: string): string => join(folder, name)

function snapshot(more: Partial<Snapshot> = {}): Snapshot {
  return {
    takenAt: '2026-01-01T00:00:00.000000Z',
    heldMs: 7,
    migrations: PROGRAM.migrations,
    links: [LINK],
    files: () => filesOf(at('data'), ''),
    async [Symbol.asyncDispose]() {},
    ...more,
  }
}

async function back(
  name: string,
  { signal = new AbortController().signal, ...more }: Partial<Snapshot> & { signal?: AbortSignal } = {},
) {
  const target = await checkTarget(at(name), at('data'))
  return writeBackup(snapshot(more), { target, version: '1.2.0' }, () => undefined, signal)
}

const restore = (name: string, program = PROGRAM) => restoreBackup(at(name), at('restored'), program)

describe('a backup', () => {
  it.each(['folder', 'file.tar'])('in a %s is restored as it was', async (name) => {
    const written = await back(name)
    expect(written).toMatchObject({ path: at(name), files: 3, bytes: 11, heldMs: 7 })
    expect(await restore(name)).toMatchObject({ heddle: '1.2.0', files: 3, bytes: 11 })
    for (const [file, text] of Object.entries(FILES))
      expect(await readFile(at(`restored/${file}`), 'utf8')).toBe(text)
    expect(await readlink(at(`restored/${LINK.name}`))).toBe(LINK.target)
    expect((await readdir(folder)).sort()).toEqual(['data', name, 'restored'].sort())
  })

  it('is for its owner alone', async () => {
    await back('folder')
    await back('file.tar')
    expect((await stat(at('folder'))).mode & 0o777).toBe(0o700)
    expect((await stat(at('folder/control.sqlite'))).mode & 0o777).toBe(0o600)
    expect((await stat(at('file.tar'))).mode & 0o777).toBe(0o600)
  })

  it('takes the place of one that was interrupted, and of nothing else', async () => {
    await mkdir(at('folder.partial/blobs'), { recursive: true })
    await back('folder')
    await mkdir(at('other.partial/mine'), { recursive: true })
    await expect(back('other')).rejects.toMatchObject({ status: 409 })
    expect(await readdir(at('other.partial'))).toEqual(['mine'])
  })

  it.each(['folder', 'file.tar'])('to a %s is refused while another one to it is written', async (name) => {
    const results = await Promise.allSettled([back(name), back(name)])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { status: 409, message: expect.stringMatching(/a backup, started/) },
    })
    expect((await readdir(folder)).sort()).toEqual(['data', name])
    await restore(name)
  })

  it.each(['folder', 'file.tar'])('to a %s leaves nothing when it fails or is stopped', async (name) => {
    const missing = async function* () {
      yield* filesOf(at('data'), '')
      yield { name: 'blobs/gone', path: at('data/blobs/gone'), size: 1 }
    }
    await expect(back(name, { files: missing })).rejects.toThrow('ENOENT')
    await expect(back(name, { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow('stopped')
    expect(await readdir(folder)).toEqual(['data'])
  })

  it('takes the place of an empty folder, and is refused before it copies where that cannot be replaced', async () => {
    await mkdir(at('empty'))
    await back('empty')
    expect(await readdir(at('empty'))).toContain(MANIFEST)

    await mkdir(at('filled'))
    const target = await checkTarget(at('filled'), at('data'))
    await writeFile(at('filled/mine'), '')
    const copied: number[] = []
    const writing = writeBackup(
      snapshot(),
      { target, version: '1.2.0' },
      ({ files }) => copied.push(files),
      new AbortController().signal,
    )
    await expect(writing).rejects.toMatchObject({ status: 409, message: expect.stringContaining('in it') })
    expect(copied).toEqual([])
    expect(await readdir(at('filled'))).toEqual(['mine'])
  })

  it('is refused inside the data folder, without a parent, and where something is', async () => {
    const refused = (name: string) => expect(checkTarget(at(name), at('data'))).rejects
    await refused('data/backup').toMatchObject({ status: 400 })
    await refused('none/backup').toMatchObject({ status: 400 })
    await mkdir(at('full/of'), { recursive: true })
    await refused('full').toMatchObject({ status: 409 })
    await mkdir(at('empty'))
    expect(await checkTarget(at('empty'), at('data'))).toBe(at('empty'))
  })
})

describe('a restore', () => {
  const refused = async (name: string, message: string, program = PROGRAM) => {
    await expect(restore(name, program)).rejects.toThrow(message)
    expect(await readdir(folder)).not.toContain('restored')
  }

  it('is refused for a file that is damaged, missing or not in the manifest', async () => {
    await back('folder')
    await writeFile(at('folder/blobs/contents/1'), 'onE')
    await refused('folder', 'blobs/contents/1 is not as it was backed up')
    await rm(at('folder/blobs/contents/1'))
    await refused('folder', 'blobs/contents/1 is missing')
    await writeFile(at('folder/blobs/contents/1'), 'one')
    await writeFile(at('folder/blobs/contents/2'), 'two')
    await refused('folder', 'blobs/contents/2 does not belong to it')
  })

  it('is refused for a manifest that is missing, cut or changed', async () => {
    await back('folder')
    const path = at(`folder/${MANIFEST}`)
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('"size":4', '"size":5'))
    await refused('folder', 'not as it was written')
    await writeFile(path, text.slice(0, -100))
    await refused('folder', 'damaged')
    await rm(path)
    await refused('folder', 'is not a whole backup')
  })

  it('is refused for a file that is cut, changed, or no backup', async () => {
    const { path } = await back('file.tar')
    const { size } = await stat(path)
    await truncate(path, size - 3_000)
    await refused('file.tar', 'damaged')
    await truncate(path, 1_024)
    await refused('file.tar', 'not a whole backup')
    await appendFile(path, 'x'.repeat(5_000))
    await refused('file.tar', 'damaged')
    await refused('none', 'There is no backup')
  })

  it('is refused for a newer version, by its name', async () => {
    await back('folder')
    await refused('folder', 'made by Heddle 1.2.0, which is newer than this one (1.1.9)', {
      ...PROGRAM,
      version: '1.1.9',
    })
    await refused('folder', '0002-second.ts', { ...PROGRAM, migrations: ['0001-first.ts'] })
    await refused('folder', 'which is newer than this one (1.2.0-rc.1)', {
      ...PROGRAM,
      version: '1.2.0-rc.1',
    })
    expect(await restore('folder', { ...PROGRAM, version: '1.10.0' })).toMatchObject({ heddle: '1.2.0' })
  })

  it('is refused for a folder that is not empty, and fills an empty one', async () => {
    await back('folder')
    await mkdir(at('restored'))
    await writeFile(at('restored/mine'), '')
    await expect(restore('folder')).rejects.toMatchObject({ status: 409 })
    await rm(at('restored/mine'))
    await restore('folder')
  })

  it('is refused while another one into the folder runs, which goes on', async () => {
    await back('folder')
    const results = await Promise.allSettled([restore('folder'), restore('folder')])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: {
        message: expect.stringMatching(/in use by another Heddle \(process \d+, a restore, started/),
      },
    })
    for (const [file, text] of Object.entries(FILES))
      expect(await readFile(at(`restored/${file}`), 'utf8')).toBe(text)
  })

  it('takes the place of one that was interrupted, and of nothing else; no server starts on that', async () => {
    await back('folder')
    await mkdir(at('restored/.restoring/blobs'), { recursive: true })
    await mkdir(at('restored/trace-db/half'), { recursive: true })
    expect(() => openDataFolder(at('restored'), 'server')).toThrow('repeat it')
    await writeFile(at('restored/mine'), '')
    await expect(restore('folder')).rejects.toMatchObject({ status: 409 })
    expect(await readdir(at('restored'))).toEqual(expect.arrayContaining(['.restoring', 'mine', 'trace-db']))
    await rm(at('restored/mine'))
    await restore('folder')
    expect((await readdir(at('restored'))).sort()).toEqual(
      ['blobs', 'control.sqlite', 'holder.txt', 'lock.sqlite', 'trace-db'].sort(),
    )
    expect(await readdir(at('restored/trace-db'))).not.toContain('half')
    openDataFolder(at('restored'), 'server')[Symbol.dispose]()
  })

  it('fills a folder that cannot be replaced, as the root of a volume, and leaves it as it was when it fails', async () => {
    await back('folder')
    await mkdir(at('restored/lost+found'), { recursive: true })
    const { ino } = await stat(at('restored'))
    await writeFile(at('folder/blobs/contents/2'), 'two')
    await expect(restore('folder')).rejects.toThrow('does not belong to it')
    expect(await readdir(at('restored'))).toEqual(['lost+found'])
    await rm(at('folder/blobs/contents/2'))
    await restore('folder')
    expect((await stat(at('restored'))).ino).toBe(ino)
  })

  it('is refused before it copies where there is no room for it', async () => {
    await writeFile(at('file.tar'), '')
    await truncate(at('file.tar'), 8 * 1024 ** 4)
    await refused('file.tar', 'has room for')
  })
})
