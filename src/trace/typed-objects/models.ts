import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { OP_SOURCE_FILE } from '../objects/op-value.ts'
import { checkObjectId } from '../objects/publisher.ts'
import { safeName } from '../objects/safe-name.ts'
import { projectIdOf } from '../project-path-wire.ts'
import { attributesIn, classValue } from './class-value.ts'
import {
  createGroup,
  type GroupDeps,
  type GroupVersions,
  keepSource,
  namedOf,
  objectRef,
  ofClass,
  sourceOf,
} from './group.ts'
import type { ModelCreateReq, ModelCreateRes, TypedModel } from './wire.ts'

/** Source code and attributes, under a name. */
export interface TypedModels extends GroupVersions<TypedModel> {
  create(req: ModelCreateReq, context: CallContext): Promise<ModelCreateRes>
}

export function createTypedModels(deps: GroupDeps): TypedModels {
  const { publish, ...group } = createGroup(deps, {
    ...ofClass('Model'),
    async show(version, as) {
      const source = await sourceOf(deps, version)
      // Wire: only the list includes models that clients published in another form.
      if (source === undefined && as === 'read')
        throw invalidRequest(`Model ${version.object_id} has no source code`)
      const attributes = attributesIn(version.text, ['files'])
      return { ...namedOf(version), source_code: source ?? '', attributes }
    },
  })

  async function create(req: ModelCreateReq, context: CallContext) {
    const { name, description = null, attributes } = req
    const project_id = projectIdOf(req)
    const object_id = safeName(name)
    checkObjectId(object_id)
    const valueWith = (source: string) =>
      classValue('Model', { name, description, files: { [OP_SOURCE_FILE]: source } }, attributes)
    // A refused attribute must not leave a file behind.
    valueWith('')
    const val = valueWith(await keepSource(deps, project_id, req.source_code))
    const version = await publish({ project_id, object_id, val }, context)
    return { ...version, model_ref: objectRef(project_id, version) }
  }

  return { ...group, create }
}
