import type { z } from 'zod'
import { placeOf } from '../../access.ts'
import { parseProjectId } from '../../accounts/project-name.ts'
import type { Projects } from '../../accounts/projects.ts'
import type { AuthMode } from '../../accounts/sessions/me.ts'
import { type CallContext, originOf } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { internalProjectId } from '../../trace/ref-uri.ts'
import { welcomePage } from './welcome-page.ts'
import type { GeolocateRes, ProjectsInfoReq, ProjectsInfoRes, ServerInfoRes, VersionRes } from './wire.ts'

/** Endpoints about the server itself. */
export interface ServiceInfo {
  welcome(input: object, context: CallContext): Promise<RawReply>
  version(): VersionRes
  serverInfo(): ServerInfoRes
  geolocate(): GeolocateRes
  /** Wire: unknown projects are left out, and so are those that the caller may not read. */
  projectsInfo(req: ProjectsInfoReq, context: CallContext): Promise<z.input<typeof ProjectsInfoRes>>
}

export function createServiceInfo({
  projects,
  version,
  auth,
}: {
  projects: Projects
  version: string
  auth: AuthMode
}): ServiceInfo {
  async function welcome(_input: object, context: CallContext): Promise<RawReply> {
    const page = welcomePage({ url: originOf(context), version, auth })
    return { headers: { 'content-type': 'text/html; charset=utf-8' }, body: page }
  }

  async function projectsInfo(
    req: ProjectsInfoReq,
    { caller }: CallContext,
  ): Promise<z.input<typeof ProjectsInfoRes>> {
    const readable = req.project_ids.filter((id) => caller.rights.allows('read', placeOf(id)))
    const known = await Promise.all(readable.map((id) => projects.exists(parseProjectId(id))))
    return readable
      .filter((_, index) => known[index])
      .map((id) => ({ external_project_id: id, internal_project_id: internalProjectId(id) }))
  }

  return {
    welcome,
    version: () => ({ version }),
    serverInfo: () => ({ min_required_weave_python_version: '0.0.0', trace_server_version: version }),
    geolocate: () => ({}),
    projectsInfo,
  }
}
