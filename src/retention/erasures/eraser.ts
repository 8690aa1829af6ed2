import pLimit from 'p-limit'
import type { Place } from '../../access.ts'
import type { Projects } from '../../accounts/projects.ts'
import type { Amount, ErasedUser, Removal } from '../../removal.ts'
import { slicesOf } from '../../slices.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { Mutations } from '../../stores/trace-db/mutations.ts'
import { nowIso } from '../../time.ts'
import type { ErasureRow } from './queries.ts'
import * as queries from './queries.ts'

/** Projects that are erased at once: the text of each statement has their names. */
const PROJECTS_AT_ONCE = 200

/**
 * Passes over one erasure: a write that was under way when its project was closed may come after the first one, but not
 * much later.
 */
const PASSES_MAX = 10

/** Erasures that count or remove something at once: more would only compete with requests for the stores. */
const WORKING_MAX = 4

/** What an erasure is about. */
export interface Erased {
  projectIds: readonly string[]
  /** The entity that goes as a whole. */
  entity?: string
  user?: ErasedUser
}

export interface EraserDeps {
  control: ControlDb
  mutations: Pick<Mutations, 'untilGone'>
  removals: readonly Removal[]
  projects: Pick<Projects, 'idsOf' | 'delete'>
}

/**
 * Carries an erasure out, or continues one, up to the names that its entity and user have; it keeps the receipt, and
 * what was done already is found done.
 */
export type Erase = (row: ErasureRow, erased: Erased, signal: AbortSignal) => Promise<void>

/**
 * Erasures beyond the limit wait before each step, and none of them holds a place while it waits for replaced files.
 */
export function createEraser(deps: EraserDeps): Erase {
  const limit = pLimit(WORKING_MAX)
  return (row, erased, signal) =>
    erase(deps, row, erased, signal, (step) =>
      limit(() => {
        signal.throwIfAborted()
        return step()
      }),
    )
}

async function erase(
  { control, mutations, removals, projects }: EraserDeps,
  row: ErasureRow,
  erased: Erased,
  signal: AbortSignal,
  working: <Result>(step: () => Promise<Result>) => Promise<Result>,
): Promise<void> {
  const note = (changes: Partial<ErasureRow>): Promise<void> =>
    queries.updateErasure(control, row.id, changes)
  const findProjects = () =>
    control.transaction().execute((tx) => addBegun(projects, tx, { id: row.id, ...erased }))

  await working(async () => {
    if (row.amounts === null) await note({ amounts: JSON.stringify(await countAll(removals, erased)) })
    await eraseUser(removals, row, erased, signal, note)
  })
  for (let pass = 1; ; pass++) {
    await working(async () => {
      await eraseProjects(removals, await findProjects(), signal)
      await note({ erased_at: nowIso() })
    })
    await mutations.untilGone(signal)
    const left = await working(async () => {
      const { projectIds, begun } = await findProjects()
      const counted = await countProjects(removals, { projectIds })
      return counted.reduce((sum, { count }) => sum + count, begun)
    })
    if (left === 0) break
    if (pass === PASSES_MAX) throw new Error(`${left} rows were written while their project was erased`)
  }
  const { entity, user } = erased
  if (entity !== undefined || user !== undefined) {
    await working(async () => {
      if (entity !== undefined) for (const removal of removals) await removal.eraseEntity?.(entity, signal)
      if (user !== undefined) for (const removal of removals) await removal.renameUser?.(user, signal)
    })
    await mutations.untilGone(signal)
  }
}

/**
 * Adds to an erasure the projects of its entity that were begun since: another server may not have heard of it yet.
 * Deletes their rows, and those of the known ones that came again.
 * @returns all projects of the erasure, and how many rows there were
 */
export async function addBegun(
  projects: EraserDeps['projects'],
  tx: ControlTx,
  { id, entity }: Pick<ErasureRow, 'id'> & Pick<Erased, 'entity'>,
): Promise<Erased & { begun: number }> {
  if (entity !== undefined) await queries.addProjects(tx, id, await projects.idsOf(tx, entity))
  const projectIds = await queries.projectsOf(tx, id)
  let begun = 0
  for (const some of slicesOf(projectIds, PROJECTS_AT_ONCE)) {
    const count = await projects.delete(tx, some)
    begun += count
  }
  return { projectIds, begun }
}

async function eraseUser(
  removals: readonly Removal[],
  { with_data, unreadable_at }: ErasureRow,
  { user }: Erased,
  signal: AbortSignal,
  note: (changes: Partial<ErasureRow>) => Promise<void>,
): Promise<void> {
  if (user === undefined || with_data === 0) return
  for (const removal of removals) await removal.hideUser?.(user, signal)
  if (unreadable_at === null) await note({ unreadable_at: nowIso() })
  for (const removal of removals) await removal.eraseUser?.(user, signal)
}

async function eraseProjects(
  removals: readonly Removal[],
  { projectIds }: Erased,
  signal: AbortSignal,
): Promise<void> {
  for (const some of slicesOf(projectIds, PROJECTS_AT_ONCE))
    for (const removal of removals) {
      signal.throwIfAborted()
      await removal.eraseProjects?.(some, signal)
    }
}

async function countProjects(removals: readonly Removal[], { projectIds }: Erased): Promise<Amount[]> {
  const counted: Amount[] = []
  for (const some of slicesOf(projectIds, PROJECTS_AT_ONCE))
    for (const removal of removals) counted.push(...((await removal.countProjects?.(some)) ?? []))
  return counted
}

/** What there is, by kind, without those of which there is nothing. */
async function countAll(removals: readonly Removal[], erased: Erased): Promise<Amount[]> {
  const counted = await countProjects(removals, erased)
  const { user } = erased
  if (user !== undefined)
    for (const removal of removals)
      counted.push(...((await removal.countUser?.(user, erased.projectIds)) ?? []))
  return [...Map.groupBy(counted, ({ kind }) => kind)]
    .map(([kind, some]) => ({
      kind,
      count: some.reduce((sum, { count }) => sum + count, 0),
      bytes: some.reduce((sum, { bytes }) => sum + bytes, 0),
    }))
    .filter(({ count }) => count > 0)
}

/** The places that are closed during an erasure. */
export function placesOf({ projectIds, entity }: Erased): Place[] {
  const projects = projectIds.map((id) => {
    const at = id.indexOf('/')
    return { entity: id.slice(0, at), project: id.slice(at + 1) }
  })
  return entity === undefined ? projects : [...projects, { entity }]
}
