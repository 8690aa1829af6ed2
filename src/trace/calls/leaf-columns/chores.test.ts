import { describe, expect, it } from 'vitest'
import { leafColumnName, leafColumnSql, mayHaveColumn } from '../sql/leaf-column.ts'
import {
  COLUMNS_MAX,
  COLUMNS_OF_PROJECT_MAX,
  choresOf,
  DROPPED_AFTER_S,
  droppable,
  type LeafState,
  readyPaths,
  UNUSED_S_MAX,
} from './chores.ts'

const HOUR_S = 3600
const PATH = 'output.score'

const columns = (paths: readonly string[], is_filled: 0 | 1 = 1) =>
  paths.map((path) => ({ name: leafColumnName(path), path, is_filled }))
const uses = (paths: readonly string[], age_s = 0, project_id = 'p', released: 0 | 1 = 0) =>
  paths.map((path) => ({ path, project_id, age_s, released }))
const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `inputs.k${at}`)

const chores = (state: LeafState, ...asked: string[]): string[] =>
  choresOf(state, 'p', new Set(asked)).map(({ kind, path }) => `${kind} ${path}`)

describe('chores of leaf columns', () => {
  const own = many(COLUMNS_OF_PROJECT_MAX)
  const all = many(COLUMNS_MAX)
  const used = { columns: columns([PATH]), uses: uses([PATH]) }

  it.each<[string, LeafState, string[], string[]]>([
    ['one that is asked for is added', { columns: [], uses: [] }, [PATH], [`add ${PATH}`]],
    ['one at a time', { columns: [], uses: [] }, [PATH, 'inputs.a'], [`add ${PATH}`]],
    [
      'one that was begun is ended first',
      { columns: columns([PATH], 0), uses: uses([PATH]) },
      ['inputs.a', PATH],
      [`add ${PATH}`],
    ],
    ['one that is there is used', used, [PATH], []],
    [
      'its use is recorded each hour',
      { columns: columns([PATH]), uses: uses([PATH], HOUR_S) },
      [PATH],
      [`use ${PATH}`],
    ],
    [
      'and for each project',
      { columns: columns([PATH]), uses: uses([PATH], 0, 'q') },
      [PATH],
      [`use ${PATH}`],
    ],
    [
      'none is added to the most that there may be',
      { columns: columns(all), uses: uses(all, 0, 'q') },
      [PATH],
      [],
    ],
    ['nor for a project that has just got many', { columns: columns(own), uses: uses(own) }, [PATH], []],
    [
      'the oldest of a project gives way',
      { columns: columns(own), uses: [...uses(own.slice(1), 2), ...uses(own.slice(0, 1), HOUR_S)] },
      [PATH],
      [`release ${own[0]}`, `add ${PATH}`],
    ],
    [
      'one of another version of the server is not used',
      { columns: [{ name: 'leaf_0', path: PATH, is_filled: 1 }], uses: uses([PATH]) },
      [PATH],
      [`add ${PATH}`],
    ],
  ])('%s', (_name, state, asked, expected) => {
    expect(chores(state, ...asked)).toEqual(expected)
  })

  it.each<[string, LeafState, string[]]>([
    ['one in use stays', used, []],
    ['one that was just given up', { ...used, uses: uses([PATH], 5, 'q', 1) }, []],
    ['it goes later', { ...used, uses: uses([PATH], DROPPED_AFTER_S + 1, 'q', 1) }, [leafColumnName(PATH)]],
    [
      'so does one that was not used for long',
      { ...used, uses: uses([PATH], UNUSED_S_MAX + DROPPED_AFTER_S + 1) },
      [leafColumnName(PATH)],
    ],
    [
      'but not where another project uses it',
      { ...used, uses: [...uses([PATH], UNUSED_S_MAX * 2), ...uses([PATH], 5, 'q')] },
      [],
    ],
    [
      'one of another version of the server goes',
      { columns: [{ name: 'leaf_0', path: PATH, is_filled: 1 }], uses: uses([PATH]) },
      ['leaf_0'],
    ],
  ])('removal: %s', (_name, state, expected) => {
    expect(droppable(state)).toEqual(expected)
  })

  it('only columns that are filled and in use are read', () => {
    expect([...readyPaths(used)]).toEqual([PATH])
    expect([...readyPaths({ ...used, columns: columns([PATH], 0) })]).toEqual([])
    expect([...readyPaths({ ...used, uses: uses([PATH], 0, 'p', 1) })]).toEqual([])
    expect([...readyPaths({ ...used, uses: uses([PATH], UNUSED_S_MAX) })]).toEqual([])
    expect([...readyPaths({ ...used, columns: [{ name: 'leaf_0', path: PATH, is_filled: 1 }] })]).toEqual([])
  })
})

describe('a path that may have a leaf column', () => {
  it.each<[boolean, string]>([
    [true, PATH],
    [true, 'attributes.a\\.b.0'],
    [true, `inputs.${'k'.repeat(100)}`],
    [false, 'inputs'],
    [false, 'inputs..a'],
    [false, 'op_name'],
    [false, 'summary.weave.status'],
    [false, 'inputs_dump.a'],
    [false, 'inputs.messages.64'],
    [false, `inputs.${'k'.repeat(300)}`],
    [false, `inputs${'.k'.repeat(9)}`],
    [false, 'inputs.\ud800'],
    [true, `inputs.${'\\.'.repeat(90)}`],
    [false, `inputs.${'\\.'.repeat(90)}..a`],
    [false, `inputs${'.\\'.repeat(1e6)}`],
  ])('%s: %j', (expected, path) => {
    expect(mayHaveColumn(path)).toBe(expected)
  })

  it('is part of no statement as it stands', () => {
    const sql = leafColumnSql("inputs.a'); DROP TABLE calls; --{x:String}")
    expect(sql).not.toContain('DROP')
    expect(sql).not.toContain('{')
    expect(leafColumnName(PATH)).toMatch(/^leaf_[\da-f]{16}$/)
  })
})
