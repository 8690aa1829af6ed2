import { describe, expect, it } from 'vitest'
import { ALL_RIGHTS } from '../access.ts'
import { ownerOf } from './request-owner.ts'

const KEY = { keyId: 'key', defaultEntity: 'home', rights: ALL_RIGHTS }
const project_id = 'a/b'

describe('ownerOf', () => {
  it.each([
    [{ entity: 'a', project: 'b', batch: [] }],
    [{ project_id }],
    [{ start: { id: 'x', project_id } }],
    [{ batch: [{ mode: 'end', req: { end: { project_id } } }, { req: {} }] }],
    [{ obj: { object_id: 'o', project_id } }],
  ])('is the project that %j names', (input) => {
    expect(ownerOf(input, KEY)).toBe('a/b')
  })

  it.each([
    [{}],
    [{ project_id: 3 }],
    [{ a: { b: { c: { d: { e: { f: { g: { project_id } } } } } } } }],
    [{ batch: [] }],
  ])('is the key where %j names none', (input) => {
    expect(ownerOf(input, KEY)).toBe('home/key')
  })

  it('is the key where a project of somebody else is named', () => {
    const rights = { ...ALL_RIGHTS, entities: ['home', 'a'] }
    expect(ownerOf({ project_id }, { ...KEY, rights })).toBe('a/b')
    expect(ownerOf({ project_id: 'other/b' }, { ...KEY, rights })).toBe('home/key')
  })
})
