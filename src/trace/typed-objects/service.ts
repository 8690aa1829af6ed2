import type { Tables } from '../tables/service.ts'
import { createDatasets, type Datasets } from './datasets.ts'
import { createEvaluations, type Evaluations } from './evaluations.ts'
import type { GroupDeps } from './group.ts'
import { createTypedModels, type TypedModels } from './models.ts'
import { createOps, type Ops } from './ops.ts'
import { createScorers, type Scorers } from './scorers.ts'

/**
 * Objects of the clients' classes, created and read field by field; other endpoints show the same objects as values.
 */
export interface TypedObjects {
  ops: Ops
  datasets: Datasets
  scorers: Scorers
  models: TypedModels
  evaluations: Evaluations
}

export function createTypedObjects(deps: GroupDeps & { tables: Pick<Tables, 'create'> }): TypedObjects {
  const ops = createOps(deps)
  return {
    ops,
    datasets: createDatasets(deps),
    scorers: createScorers(deps, ops),
    models: createTypedModels(deps),
    evaluations: createEvaluations(deps, ops),
  }
}
