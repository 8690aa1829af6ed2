import type { CallContext } from '../../http/caller.ts'
import type { Target } from '../served-models/service.ts'

/** The project and key that a request counts for. */
export interface Project {
  entity: string
  project: string
}

/** Finds the project of a request; undefined when nothing names one. */
export type ProjectOf = (context: CallContext, target: Target) => Project | undefined

const NAME = /^[^/]{1,128}$/

/** Wire: `team/project`; anything else is ignored. */
const PROJECT = /^([^/\s]{1,128})\/([^/\s]{1,128})$/

/**
 * The first of `headers` that names a project counts, then the project of the model, then the only one that the key may use.
 */
export function createProjectOf(headers: readonly string[]): ProjectOf {
  return ({ header, caller }, { trained }) => {
    for (const name of headers) {
      const named = projectInHeader(header(name) ?? '')
      if (named !== undefined) return named
    }
    if (trained !== undefined) return { entity: trained.entity, project: trained.project }
    const { project } = caller.rights
    return project === undefined ? undefined : { entity: caller.defaultEntity, project }
  }
}

/** Names in a header may be percent-encoded: it holds neither spaces in names nor letters beyond Latin-1. */
function projectInHeader(text: string): Project | undefined {
  const [entity = '', project = '', ...more] = text.trim().split('/')
  if (/\s/.test(text.trim()) || more.length > 0) return undefined
  const named = { entity: decoded(entity), project: decoded(project) }
  return NAME.test(named.entity) && NAME.test(named.project) ? named : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The project that a text names; undefined for any other text. */
export function projectNamed(text: string): Project | undefined {
  const [, entity, project] = PROJECT.exec(text.trim()) ?? []
  return entity === undefined || project === undefined ? undefined : { entity, project }
}
