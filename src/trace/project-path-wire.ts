import { z } from 'zod'

/** The project in the path of an endpoint below `/v2`. Wire: it wins over one in the body. */
export const ProjectPath = z.object({ entity: z.string(), project: z.string() })
export type ProjectPath = z.output<typeof ProjectPath>

export function projectIdOf({ entity, project }: ProjectPath): string {
  return `${entity}/${project}`
}
