import type { CallContext } from '../../http/caller.ts'
import { checkObjectId } from '../objects/publisher.ts'
import { safeName } from '../objects/safe-name.ts'
import { projectIdOf } from '../project-path-wire.ts'
import type { Tables } from '../tables/service.ts'
import { classValue } from './class-value.ts'
import { createGroup, type GroupDeps, type GroupVersions, namedOf, ofClass, textOf } from './group.ts'
import type { CreatedVersion, Dataset, DatasetCreateReq } from './wire.ts'

/** Rows in a table, under a name. */
export interface Datasets extends GroupVersions<Dataset> {
  create(req: DatasetCreateReq, context: CallContext): Promise<CreatedVersion>
}

export function createDatasets(deps: GroupDeps & { tables: Pick<Tables, 'create'> }): Datasets {
  const { publish, ...group } = createGroup(deps, {
    ...ofClass('Dataset'),
    show: (version) => ({ ...namedOf(version), rows: textOf(version.fields['rows']) ?? '' }),
  })

  async function create({ name, description = null, rows, ...path }: DatasetCreateReq, context: CallContext) {
    const project_id = projectIdOf(path)
    const object_id = name == null ? 'Dataset' : safeName(name)
    checkObjectId(object_id)
    const table = await deps.tables.create({ table: { project_id, rows } })
    const ref = `weave:///${project_id}/table/${table.digest}`
    const val = classValue('Dataset', { name: name ?? 'Dataset', description, rows: ref })
    return publish({ project_id, object_id, val }, context)
  }

  return { ...group, create }
}
