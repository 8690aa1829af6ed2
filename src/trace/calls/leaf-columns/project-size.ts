import { firstOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { selectProjectRows } from './queries.ts'

/** An old answer does no harm, since it only chooses between two ways to read. */
const REMEMBERED_MS = 30_000

/** Answers that are remembered, a few hundred bytes each. */
const PROJECTS_MAX = 1000

/** Below this, a query extracts a leaf of all calls of a project in some tens of milliseconds. */
export const LARGE_ROWS = 50_000

export interface ProjectSize {
  /** Whether a project has so many calls that columns for its leaves pay. */
  isLarge(projectId: string): Promise<boolean>
}

export function createProjectSize({ traces }: { traces: TraceDb }): ProjectSize {
  const known = new Map<string, { isLarge: boolean; at: number }>()
  return {
    async isLarge(projectId) {
      const remembered = known.get(projectId)
      if (remembered !== undefined && performance.now() - remembered.at < REMEMBERED_MS)
        return remembered.isLarge
      const estimate = await firstOf(traces.query<{ rows: number }>(selectProjectRows(projectId)))
      const isLarge = (estimate?.rows ?? 0) >= LARGE_ROWS
      if (known.size >= PROJECTS_MAX) known.clear()
      known.set(projectId, { isLarge, at: performance.now() })
      return isLarge
    },
  }
}
