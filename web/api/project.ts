import { queryOptions } from '@tanstack/react-query'
import type { ActivityRes, ProjectActivity } from '../../src/trace/project/wire.ts'
import { askJson } from './client.ts'
import { LIVE_MS } from './query-client.ts'

/** A project by its two names, as the address has them. */
export interface ProjectName {
  entity: string
  project: string
}

/** `entity/project`, as the API names it. */
export function projectId({ entity, project }: ProjectName): string {
  return `${entity}/${project}`
}

/** The header by which a request to a model counts for an {@link encodedProject}. */
export const PROJECT_HEADER = 'openai-project'

/**
 * `entity/project` as addresses and headers have it: names may have characters that end a path, or that no header
 * holds.
 */
export function encodedProject(project: ProjectName | string): string {
  const id = typeof project === 'string' ? project : projectId(project)
  return id.split('/').map(encodeURIComponent).join('/')
}

/** The address of a project in the API, or of a part of it. */
export function projectPath(project: ProjectName | string, part?: string): string {
  const path = `/v2/${encodedProject(project)}`
  return part === undefined ? path : `${path}/${part}`
}

export type { ProjectActivity }

/**
 * The projects that were used last, with their activity in the last 24 hours, the most recently used first.
 * @param find a part of `entity/project`; empty for all
 */
export function activityQuery(find = '') {
  return queryOptions({
    queryKey: ['projects', find],
    refetchInterval: LIVE_MS,
    queryFn: ({ signal }) =>
      askJson<ActivityRes>(`/projects/activity${find === '' ? '' : `?find=${encodeURIComponent(find)}`}`, {
        signal,
      }),
  })
}

/** Their names, by name, and whether there are more. */
export function projectsQuery(find = '') {
  return queryOptions({
    ...activityQuery(find),
    refetchInterval: false,
    staleTime: 30_000,
    select: ({ projects, has_more }): ProjectNames => ({
      names: projects
        .map(({ entity, project }) => ({ entity, project }))
        .sort((a, b) => projectId(a).localeCompare(projectId(b))),
      hasMore: has_more,
    }),
  })
}

interface ProjectNames {
  names: ProjectName[]
  hasMore: boolean
}
