import { projectIdInHeader } from '../../accounts/project-name.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Target } from '../served-models/service.ts'

/** The project and key that a request counts for. */
export interface Project {
  entity: string
  project: string
}

/** Finds the project of a request; undefined when nothing names one. */
export type ProjectOf = (context: CallContext, target: Target) => Project | undefined

/** The name of an entity or a project: no slash, no control characters, and not spaces alone. */
const NAME = /^(?=.*\S)[^/\p{Cc}]{1,128}$/u

/**
 * The first of `headers` that names a project counts, then the project of the model, then the only one that the key may
 * use.
 */
export function createProjectOf(headers: readonly string[]): ProjectOf {
  return ({ header, caller }, { trained }) => {
    for (const name of headers) {
      const named = projectNamed(projectIdInHeader(header(name) ?? ''))
      if (named !== undefined) return named
    }
    if (trained !== undefined) return { entity: trained.entity, project: trained.project }
    const { project } = caller.rights
    return project === undefined ? undefined : { entity: caller.defaultEntity, project }
  }
}

/** The project that a text names as `team/project`; undefined for any other text. */
export function projectNamed(text: string): Project | undefined {
  const [entity = '', project = '', ...more] = text.trim().split('/')
  return more.length === 0 && NAME.test(entity) && NAME.test(project) ? { entity, project } : undefined
}
