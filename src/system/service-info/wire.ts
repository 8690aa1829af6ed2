import { z } from 'zod'

export const WelcomePage = z.string().meta({ description: 'A page for people' })

export const VersionRes = z.object({ version: z.string() }).meta({ id: 'Version' })
export type VersionRes = z.input<typeof VersionRes>

/** Wire: the Python client refuses to start without this, and compares both versions as PEP 440. */
export const ServerInfoRes = z
  .object({ min_required_weave_python_version: z.string(), trace_server_version: z.string() })
  .meta({ id: 'ServerInfo' })
export type ServerInfoRes = z.input<typeof ServerInfoRes>

/** Wire: the server chooses the members; this one does not locate its callers. */
export const GeolocateRes = z.object({}).meta({ id: 'Geolocation' })
export type GeolocateRes = z.input<typeof GeolocateRes>

export const ProjectsInfoReq = z.object({ project_ids: z.array(z.string()).max(1000) })
export type ProjectsInfoReq = z.output<typeof ProjectsInfoReq>

export const ProjectsInfoRes = z.array(
  z.object({ external_project_id: z.string(), internal_project_id: z.string() }).meta({ id: 'ProjectInfo' }),
)
