import type { Tables } from '../tables/service.ts'
import { createDatasets } from './datasets.ts'
import { createEvaluations } from './evaluations.ts'
import type { GroupDeps } from './group.ts'
import { createTypedModels } from './models.ts'
import { createOps } from './ops.ts'
import { createScorers } from './scorers.ts'

export type TypedObjects = ReturnType<typeof createTypedObjects>

/**
 * Objects of the clients' classes, created and read field by field; other endpoints show the same objects as values.
 */
export function createTypedObjects(deps: GroupDeps & { tables: Pick<Tables, 'create'> }) {
  const ops = createOps(deps)
  return {
    ops,
    datasets: createDatasets(deps),
    scorers: createScorers(deps, ops),
    models: createTypedModels(deps),
    evaluations: createEvaluations(deps, ops),
  }
}
