import type { Removal } from '../../removal.ts'
import type { Mutations } from '../../stores/trace-db/mutations.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { createTableRemoval } from '../../stores/trace-db/table-removal.ts'
import type { UsageCounter } from './counter.ts'
import { USAGE_TABLE } from './queries.ts'

/** Removes what completions cost a project or an entity, what waits to be written first. */
export function createUsageRemoval(deps: {
  traces: TraceDb
  mutations: Mutations
  counter: Pick<UsageCounter, 'flush'>
}): Removal {
  const { counter } = deps
  const table = USAGE_TABLE
  const ofProjects = createTableRemoval(deps, {
    table,
    kind: 'usage',
    project: "concat(entity, '/', project)",
  })
  const ofEntities = createTableRemoval(deps, { table, project: 'entity' })
  return {
    ...ofProjects,
    async eraseProjects(projectIds, signal) {
      await counter.flush()
      await ofProjects.eraseProjects?.(projectIds, signal)
    },
    eraseEntity: async (entity, signal) => ofEntities.eraseProjects?.([entity], signal),
  }
}
