import type { CallContext } from '../../http/caller.ts'
import { placeholderSource } from '../objects/op-value.ts'
import { checkObjectId } from '../objects/publisher.ts'
import { safeName } from '../objects/safe-name.ts'
import { projectIdOf } from '../project-path-wire.ts'
import { classValue } from './class-value.ts'
import {
  createGroup,
  type GroupDeps,
  type GroupVersions,
  namedOf,
  objectRef,
  ofClass,
  textOf,
} from './group.ts'
import type { Ops } from './ops.ts'
import type { Scorer, ScorerCreateReq, ScorerCreateRes } from './wire.ts'

/** A score op and a summarize op, under a name. */
export interface Scorers extends GroupVersions<Scorer> {
  create(req: ScorerCreateReq, context: CallContext): Promise<ScorerCreateRes>
}

export function createScorers(deps: GroupDeps, ops: Ops): Scorers {
  const { publish, ...group } = createGroup(deps, {
    ...ofClass('Scorer'),
    show: (version) => ({ ...namedOf(version), score_op: textOf(version.fields['score']) ?? '' }),
  })

  async function create(req: ScorerCreateReq, context: CallContext) {
    const { name, description = null } = req
    const project_id = projectIdOf(req)
    const object_id = safeName(name)
    checkObjectId(object_id)
    const sources = {
      [`${object_id}_score`]: req.op_source_code,
      [`${object_id}_summarize`]: placeholderSource('summarize(score_rows)'),
    }
    const [score, summarize] = await ops.publishAll(project_id, sources, context)
    // Wire: the fields are digests alone, not refs.
    const val = classValue('Scorer', { name, description, score, summarize, column_map: null })
    const version = await publish({ project_id, object_id, val }, context)
    return { ...version, scorer: objectRef(project_id, version) }
  }

  return { ...group, create }
}
