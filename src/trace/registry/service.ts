import { placeOf, requireRight } from '../../access.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { JsonText } from '../../json/lossless-json.ts'
import type { Objects } from '../objects/service.ts'
import { parseRef, versionNamed } from '../ref-uri.ts'
import type { LinkReq, LinkRes } from './wire.ts'

/** A registry is a project in which versions of other projects have a name. */
export interface Registry {
  /**
   * Links a version of an object: the target project gets a version of `portfolio_name` whose value names the ref.
   * Repeating a link gives the same version. @throws 400 for a ref to something else, 404 for an unknown version.
   */
  link(req: LinkReq, context: CallContext): Promise<LinkRes>
}

export function createRegistry({ objects }: { objects: Objects }): Registry {
  async function link({ ref, target, aliases }: LinkReq, context: CallContext) {
    const named = parseRef(ref)
    const { projectId, kind, name } = named
    requireRight(context.caller.rights, 'read', placeOf(projectId))
    if (kind !== 'object' && kind !== 'op') throw invalidRequest(`Only objects are linked, not ${ref}`)
    const { obj } = await objects.read(versionNamed(named))
    const project_id = `${target.entity_name}/${target.project_name}`
    const object_id = target.portfolio_name
    const pinned = `weave:///${projectId}/${kind}/${name}:${obj.digest}`
    const val = new JsonText(JSON.stringify({ _type: 'RegistryLink', ref: pinned }))
    const { digest } = await objects.create({ obj: { project_id, object_id, val } }, context)
    if (aliases.length > 0) await objects.setAliases({ project_id, object_id, digest, aliases })
    const linked = await objects.read({ project_id, object_id, digest, metadata_only: true })
    return { version_index: linked.obj.version_index }
  }

  return { link }
}
