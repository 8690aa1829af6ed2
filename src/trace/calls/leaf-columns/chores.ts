import { leafColumnName, mayHaveColumn } from '../sql/leaf-column.ts'
import type { ColumnRow, UseRow } from './queries.ts'

/** What is known of leaf columns. */
export interface LeafState {
  columns: readonly ColumnRow[]
  uses: readonly UseRow[]
}

/**
 * Something to do about leaf columns. `use`: record that a project uses one. `add`: record that, and make it.
 * `release`: record that a project no longer uses it.
 */
export interface Chore {
  kind: 'use' | 'add' | 'release'
  path: string
}

/** Each takes one or two microseconds of every call that is written: all of them make an import a twelfth slower. */
export const COLUMNS_MAX = 8

/** So that one project leaves columns to others. */
export const COLUMNS_OF_PROJECT_MAX = 6

const HOUR_S = 3600

/** How often a use is recorded, and how soon a project's column may give way to another of the same project. */
const RECORDED_EVERY_S = HOUR_S

/** A column that was unused for so long is given up: longer than a weekend. */
export const UNUSED_S_MAX = 3 * 24 * HOUR_S

/** A column that was given up is removed later than any server may still know it as in use. */
export const DROPPED_AFTER_S = HOUR_S

/** The paths that have a filled column in use. */
export function readyPaths(state: LeafState): ReadonlySet<string> {
  const ready = state.columns.filter((column) => isReady(column) && isUsed(state, column.path))
  return new Set(ready.map(({ path }) => path))
}

/** What is to be done when a project asks for some paths. At most one column is added at once. */
export function choresOf(state: LeafState, projectId: string, asked: ReadonlySet<string>): Chore[] {
  const eligible = [...asked].filter(mayHaveColumn)
  const own = state.uses.filter((use) => use.project_id === projectId && isLive(use))
  const isRecorded = (path: string): boolean =>
    own.some((use) => use.path === path && use.age_s < RECORDED_EVERY_S)
  const isFilled = (path: string): boolean =>
    state.columns.some((column) => column.path === path && isReady(column))
  const used = eligible.filter((path) => isFilled(path) && !isRecorded(path))
  return [
    ...used.map((path): Chore => ({ kind: 'use', path })),
    ...addition(
      state,
      own,
      eligible.filter((path) => !isFilled(path)),
    ),
  ]
}

function addition(state: LeafState, own: readonly UseRow[], missing: readonly string[]): Chore[] {
  const begun = missing.find((path) =>
    state.columns.some((column) => column.path === path && isCurrent(column)),
  )
  if (begun !== undefined) return [{ kind: 'add', path: begun }]
  const [path] = missing
  if (path === undefined || state.columns.length >= COLUMNS_MAX) return []
  const others = own.filter((use) => use.path !== path)
  if (others.length < COLUMNS_OF_PROJECT_MAX) return [{ kind: 'add', path }]
  const oldest = others.reduce((one, other) => (other.age_s > one.age_s ? other : one))
  if (oldest.age_s < RECORDED_EVERY_S) return []
  return [
    { kind: 'release', path: oldest.path },
    { kind: 'add', path },
  ]
}

/** The names of columns to remove. */
export function droppable(state: LeafState): string[] {
  const isIdle = (path: string): boolean =>
    state.uses.every((use) => use.path !== path || idleSeconds(use) > DROPPED_AFTER_S)
  return state.columns.filter((column) => !isCurrent(column) || isIdle(column.path)).map(({ name }) => name)
}

/** Whether this version of the server made it. */
function isCurrent({ name, path }: ColumnRow): boolean {
  return mayHaveColumn(path) && name === leafColumnName(path)
}

function isReady(column: ColumnRow): boolean {
  return column.is_filled === 1 && isCurrent(column)
}

function isUsed({ uses }: LeafState, path: string): boolean {
  return uses.some((use) => use.path === path && isLive(use))
}

function isLive(use: UseRow): boolean {
  return idleSeconds(use) < 0
}

/** Seconds since a project gave a column up, negative while it has not. */
function idleSeconds({ released, age_s }: UseRow): number {
  return released === 1 ? Math.max(0, age_s) : age_s - UNUSED_S_MAX
}
