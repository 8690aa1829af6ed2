import { describe, expect, it } from 'vitest'
import { createLineCache, type LineCache, type View, viewOf } from './line-cache.ts'

const VIEW: View = { projectId: 'me/project', shown: 'all' }

const lineOf = (id: string, letters: number): string => `{"id":"${id}","a":"${'x'.repeat(letters)}"}\n`

/** What the cache has of some calls, as text. */
function textsIn(cache: LineCache, ids: readonly string[], view = VIEW) {
  return cache.of(view, ids).map((line) => line?.block.texts.toString('utf8', line.start, line.end))
}

function reading(...blocks: string[]) {
  return async () => blocks.map((block) => Buffer.from(block))
}

describe('lines that were read lately', () => {
  it('are there by id, in any order, for the project and the members they were read for', async () => {
    const cache = createLineCache()
    await cache.keeping(VIEW, reading(lineOf('a', 1) + lineOf('b', 2), lineOf('c', 3)))
    expect(textsIn(cache, ['c', 'x', 'a', 'b'])).toEqual([
      lineOf('c', 3),
      undefined,
      lineOf('a', 1),
      lineOf('b', 2),
    ])
    expect(textsIn(cache, ['a'], { projectId: 'me/other', shown: 'all' })).toEqual([undefined])
    expect(textsIn(cache, ['a'], { projectId: 'me/project', shown: 'few' })).toEqual([undefined])
  })

  it('are gone for every view once their call has changed', async () => {
    const cache = createLineCache()
    const few: View = { projectId: 'me/project', shown: 'few' }
    for (const view of [VIEW, few]) await cache.keeping(view, reading(lineOf('a', 1) + lineOf('b', 1)))
    cache.changed([
      { project_id: 'me/project', id: 'a' },
      { project_id: 'me/other', id: 'b' },
    ])
    for (const view of [VIEW, few])
      expect(textsIn(cache, ['a', 'b'], view)).toEqual([undefined, lineOf('b', 1)])
  })

  it('are not kept where their call changes while they are read', async () => {
    const cache = createLineCache()
    await cache.keeping(VIEW, async () => {
      cache.changed([{ project_id: 'me/project', id: 'a' }])
      cache.changed([{ project_id: 'me/other', id: 'b' }])
      return [Buffer.from(lineOf('a', 1) + lineOf('b', 1))]
    })
    expect(textsIn(cache, ['a', 'b'])).toEqual([undefined, lineOf('b', 1)])
  })

  it('are not kept at all where very many calls change meanwhile', async () => {
    const cache = createLineCache()
    await cache.keeping(VIEW, async () => {
      const changed = Array.from({ length: 20_000 }, (_, number) => `other${number}`)
      cache.changed(changed.map((id) => ({ project_id: 'me/project', id })))
      return [Buffer.from(lineOf('a', 1))]
    })
    expect(textsIn(cache, ['a'])).toEqual([undefined])
  })

  it('give way to newer ones of the same call', async () => {
    const cache = createLineCache()
    await cache.keeping(VIEW, reading(lineOf('a', 1) + lineOf('b', 1)))
    await cache.keeping(VIEW, reading(lineOf('a', 5)))
    expect(textsIn(cache, ['a', 'b'])).toEqual([lineOf('a', 5), lineOf('b', 1)])
  })

  it('take no more than their bytes: those go first that nobody asked for lately', async () => {
    const cache = createLineCache(10_000)
    const ids = Array.from({ length: 20 }, (_, number) => `id${number}`)
    for (const id of ids) {
      await cache.keeping(VIEW, reading(lineOf(id, 1000)))
      cache.of(VIEW, ['id0'])
    }
    const there = textsIn(cache, ids).flatMap((text, number) => (text === undefined ? [] : number))
    expect(there).toEqual([0, 14, 15, 16, 17, 18, 19])
  })

  it('leave nothing where a block is larger than all that may be kept', async () => {
    const cache = createLineCache(1000)
    await cache.keeping(VIEW, reading(lineOf('a', 2000)))
    expect(textsIn(cache, ['a'])).toEqual([undefined])
    await cache.keeping(VIEW, reading(lineOf('b', 100)))
    expect(textsIn(cache, ['b'])).toEqual([lineOf('b', 100)])
  })

  it('are none where a reading fails', async () => {
    const cache = createLineCache()
    await expect(cache.keeping(VIEW, () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk')
    expect(textsIn(cache, ['a'])).toEqual([undefined])
  })

  it('are none of lists whose calls show something of others', () => {
    const shown = { payloads: [], storageSize: 'without', usernames: 'without' } as const
    expect(viewOf('me/project', { ...shown, totalStorageSize: 'with' })).toBeUndefined()
    expect(viewOf('me/project', { ...shown, totalStorageSize: 'without' })).toBeDefined()
  })
})
