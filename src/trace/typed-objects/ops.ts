import type { CallContext } from '../../http/caller.ts'
import { opValue, placeholderSource } from '../objects/op-value.ts'
import { checkObjectId } from '../objects/publisher.ts'
import { safeName } from '../objects/safe-name.ts'
import { projectIdOf } from '../project-path-wire.ts'
import { createGroup, type GroupDeps, type GroupVersions, keepSource, sourceOf, versionOf } from './group.ts'
import type { CreatedVersion, Op, OpCreateReq } from './wire.ts'

/** Functions, of which the latest versions are listed. */
export interface Ops extends GroupVersions<Op> {
  create(req: OpCreateReq, context: CallContext): Promise<CreatedVersion>
  /** Publishes sources by the names of their ops: all, or none where a name is refused; returns their digests. */
  publishAll(
    project_id: string,
    sources: Readonly<Record<string, string>>,
    context: CallContext,
  ): Promise<string[]>
}

export function createOps(deps: GroupDeps): Ops {
  const { publish, ...group } = createGroup(deps, {
    name: 'Op',
    filter: { is_op: true, latest_only: true },
    show: async (version) => ({ ...versionOf(version), code: (await sourceOf(deps, version)) ?? '' }),
  })

  async function create({ name, source_code, ...path }: OpCreateReq, context: CallContext) {
    const project_id = projectIdOf(path)
    const object_id = name == null ? 'Op' : safeName(name)
    checkObjectId(object_id)
    const val = opValue(
      await keepSource(deps, project_id, source_code || placeholderSource('op(*args, **kwargs)')),
    )
    return publish({ project_id, object_id, val }, context)
  }

  async function publishAll(
    project_id: string,
    sources: Readonly<Record<string, string>>,
    context: CallContext,
  ): Promise<string[]> {
    for (const object_id of Object.keys(sources)) checkObjectId(object_id)
    const digests: string[] = []
    for (const [object_id, code] of Object.entries(sources)) {
      const val = opValue(await keepSource(deps, project_id, code))
      digests.push((await publish({ project_id, object_id, val }, context)).digest)
    }
    return digests
  }

  return { ...group, create, publishAll }
}
