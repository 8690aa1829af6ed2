import { queryOptions } from '@tanstack/react-query'
import { askJson } from './client.ts'

/** A project by its two names, as the address has them. */
export interface ProjectName {
  entity: string
  project: string
}

/** `entity/project`, as the API names it. */
export function projectId({ entity, project }: ProjectName): string {
  return `${entity}/${project}`
}

interface ProjectsReply {
  data: { models: { edges: { node: { name: string; entityName: string } }[] } | null }
}

const PROJECTS_MAX = 100

/** Projects of the caller's entity, by name. */
export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  staleTime: 30_000,
  queryFn: async ({ signal }): Promise<ProjectName[]> => {
    const query = `{ models(first: ${PROJECTS_MAX}) { edges { node { name entityName } } } }`
    const reply = await askJson<ProjectsReply>('/graphql', { body: { query }, signal })
    return (reply.data.models?.edges ?? []).map(({ node }) => ({
      entity: node.entityName,
      project: node.name,
    }))
  },
})
