import { invalidRequest } from '../errors.ts'

/** A project's two names, as the wire writes them: `entity/project`. */
export interface ProjectName {
  entity: string
  name: string
}

/** Wire: entity and project names of the hosted services stay below this. */
const NAME_CHARS_MAX = 128

/** Splits `entity/project`. @throws 400 for anything else. */
export function parseProjectId(projectId: string): ProjectName {
  const [entity, name, ...rest] = projectId.split('/')
  if (!entity || !name || rest.length > 0 || entity.length > NAME_CHARS_MAX || name.length > NAME_CHARS_MAX) {
    throw invalidRequest(`Invalid project_id: ${projectId.slice(0, NAME_CHARS_MAX)}; expected entity/project`)
  }
  return { entity, name }
}
