import { z } from 'zod'

export const WelcomePage = z.string().meta({ description: 'A page for people' })

export const HealthRes = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })

export const VersionRes = z.object({ version: z.string() }).meta({ id: 'Version' })

/** Wire: the Python client refuses to start without this, and compares both versions as PEP 440. */
export const ServerInfoRes = z
  .object({ min_required_weave_python_version: z.string(), trace_server_version: z.string() })
  .meta({ id: 'ServerInfo' })

/** Wire: what is in it is for the server to say, and this one asks nobody where its callers are. */
export const GeolocateRes = z.object({}).meta({ id: 'Geolocation' })

export const ProjectsInfoReq = z.object({ project_ids: z.array(z.string()).max(1000) })
export type ProjectsInfoReq = z.output<typeof ProjectsInfoReq>

export const ProjectsInfoRes = z.array(
  z.object({ external_project_id: z.string(), internal_project_id: z.string() }).meta({ id: 'ProjectInfo' }),
)
