import type { z } from 'zod'
import { parseProjectId } from '../../accounts/project-name.ts'
import type { Projects } from '../../accounts/projects.ts'
import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { internalProjectId } from '../refs/ref-uri.ts'
import { createHealth, type HealthDeps } from './health.ts'
import { welcomePage } from './welcome-page.ts'
import type { ProjectsInfoReq, ProjectsInfoRes } from './wire.ts'

export type ServiceInfo = ReturnType<typeof createServiceInfo>

/** Endpoints about the server itself. */
export function createServiceInfo(deps: HealthDeps & { projects: Projects; version: string }) {
  const { projects, version } = deps
  return {
    async welcome(_input: object, context: CallContext): Promise<RawReply> {
      const page = welcomePage(`http://${context.header('host') ?? 'localhost'}`, version)
      return { headers: { 'content-type': 'text/html; charset=utf-8' }, body: page }
    },

    health: createHealth(deps),
    version: () => ({ version }),
    serverInfo: () => ({ min_required_weave_python_version: '0.0.0', trace_server_version: version }),

    geolocate: () => ({}),

    /** Wire: unknown projects are left out. */
    async projectsInfo(req: ProjectsInfoReq): Promise<z.input<typeof ProjectsInfoRes>> {
      const known = await Promise.all(req.project_ids.map((id) => projects.exists(parseProjectId(id))))
      return req.project_ids
        .filter((_, index) => known[index])
        .map((id) => ({ external_project_id: id, internal_project_id: internalProjectId(id) }))
    },
  }
}
