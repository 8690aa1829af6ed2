import { isUtf8 } from 'node:buffer'
import { invalidRequest } from '../errors.ts'

/** A project's two names, as the wire writes them: `entity/project`. */
export interface ProjectName {
  entity: string
  name: string
}

/** A project, and when it was first used. */
export interface MadeProject extends ProjectName {
  created_at: string
}

/** Which projects a list is of. */
export interface ProjectSelection {
  entities: 'all' | readonly string[]
  /** The only project. */
  project: string | undefined
  /** A part of `entity/project`, in any case; empty for all. */
  find: string
}

/** Wire: entity and project names of the hosted services stay below this. */
const NAME_CHARS_MAX = 128

/** Splits `entity/project`. @throws 400 for anything else. */
export function parseProjectId(projectId: string): ProjectName {
  const [entity, name, ...rest] = projectId.split('/')
  if (!entity || !name || rest.length > 0)
    throw invalidRequest(`Invalid project_id: ${shown(projectId)}; expected entity/project with one slash`)
  for (const [part, text] of Object.entries({ entity, project: name })) {
    if (text.length > NAME_CHARS_MAX)
      throw invalidRequest(
        `Invalid project_id: ${shown(projectId)}; the name of the ${part} has more than ${NAME_CHARS_MAX} characters`,
      )
  }
  return { entity, name }
}

/**
 * The `entity/project` that a header means. A header has bytes, which are read as Latin-1 and are UTF-8 where they can
 * be that; and names may be percent-encoded. Text that is not percent-encoded means itself, such as `team/100%`.
 */
export function projectIdInHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  const text = isUtf8(bytes) ? bytes.toString('utf8') : value
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function shown(projectId: string): string {
  return projectId.length > NAME_CHARS_MAX ? `${projectId.slice(0, NAME_CHARS_MAX)}…` : projectId
}
