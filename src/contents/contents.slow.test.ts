import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { StoreFailed } from '../errors.ts'
import { openStores, type Stores } from '../open-stores.ts'
import { loseAnswers } from '../stores/control-db/test-lost-answers.ts'
import { SILENT } from '../test-log.ts'
import { type Contents, createContents } from './service.ts'

let folder: string
let stores: Stores
let contents: Contents

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-contents-'))
  stores = await openStores({ data: folder, workspace: join(folder, 'engine') }, SILENT)
  contents = createContents(stores)
})
afterAll(async () => {
  await stores[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const NO_LIMIT = { bytesMax: 1_000 }
const blobs = (): string[] => readdirSync(join(folder, 'blobs/contents'))

async function* bytes(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

describe('createContents', () => {
  it('names bytes by their digests', async () => {
    expect(await contents.add('a', bytes('ab', 'c'), NO_LIMIT)).toEqual({
      digest: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      md5: 'kAFQmDzST7DWlj99KOF/cg==',
      size: 3,
    })
    await contents.release(['a'])
  })

  it('keeps the same bytes once, until the last owner releases them', async () => {
    const before = blobs().length
    const owners = ['one', 'two', 'three']
    const added = await Promise.all(owners.map((owner) => contents.add(owner, bytes('same'), NO_LIMIT)))
    expect(new Set(added.map((content) => content.digest)).size).toBe(1)
    expect(blobs().length).toBe(before + 1)
    const digest = added[0]?.digest ?? ''
    await contents.share(stores.control, 'four', [digest])
    await contents.release(['one', 'two', 'two', 'three', 'nobody'])
    expect(String(await contents.read(digest))).toBe('same')
    expect(String(await contents.read(digest, { start: 1, end: 2 }))).toBe('am')
    await contents.release(['four'])
    expect(await contents.read(digest)).toBeUndefined()
    expect(blobs().length).toBe(before)
  })

  it('keeps bytes that come back while they are released', async () => {
    await contents.add('old', bytes('again'), NO_LIMIT)
    const [, content] = await Promise.all([
      contents.release(['old']),
      contents.add('new', bytes('again'), NO_LIMIT),
    ])
    expect(String(await contents.read(content.digest))).toBe('again')
  })

  it('keeps bytes whose row may be stored, which later ones share', async () => {
    {
      using _lost = loseAnswers(stores.control)
      await expect(contents.add('in doubt', bytes('maybe'), NO_LIMIT)).rejects.toMatchObject({ status: 503 })
    }
    const { digest } = await contents.add('certain', bytes('maybe'), NO_LIMIT)
    expect(await contents.ownedBy('in doubt')).toMatchObject([{ digest }])
    expect(String(await contents.read(digest))).toBe('maybe')
    await contents.release(['in doubt', 'certain'])
  })

  it('keeps nothing of bytes whose row is refused', async () => {
    const before = blobs().length
    {
      using _broken = vi.spyOn(stores.control, 'transaction').mockImplementation(() => {
        throw new StoreFailed('The database is away', undefined)
      })
      await expect(contents.add('refused', bytes('none'), NO_LIMIT)).rejects.toMatchObject({ status: 503 })
    }
    expect(blobs().length).toBe(before)
  })

  it('takes more files at once than a statement has parameters, and releases them', async () => {
    const many = Array.from({ length: 40_000 }, (_, index) => ({
      digest: `many-${index}`,
      md5: '',
      size: 0,
      blob_key: `contents/many-${index}`,
    }))
    for (let from = 0; from < many.length; from += 1_000) {
      await stores.control
        .insertInto('contents')
        .values(many.slice(from, from + 1_000))
        .execute()
    }
    const digests = many.map(({ digest }) => digest)
    await contents.share(stores.control, 'many', digests)
    expect(await contents.ownedBy('many')).toHaveLength(many.length)
    await contents.release(['many'])
    expect(await contents.ownedBy('many')).toEqual([])
  })

  it('409 for a share of bytes that were just deleted', async () => {
    await expect(contents.share(stores.control, 'late', ['gone'])).rejects.toMatchObject({ status: 409 })
  })

  it('413 beyond the limit, and nothing is kept', async () => {
    const before = blobs().length
    await expect(contents.add('big', bytes('12345', '6'), { bytesMax: 5 })).rejects.toMatchObject({
      status: 413,
    })
    expect(blobs().length).toBe(before)
    expect(await contents.ownedBy('big')).toEqual([])
  })
})
