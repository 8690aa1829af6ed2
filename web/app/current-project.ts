import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { type ProjectName, projectId, projectsQuery } from '../api/project.ts'
import { recall, remember } from '../components/remembered.ts'

const LAST = 'last-project'

const isName = (value: unknown): value is ProjectName =>
  typeof value === 'object' && value !== null && 'entity' in value && 'project' in value

/** The project of the address; elsewhere the one that was open last, or the first there is. */
export function useCurrentProject(): ProjectName | undefined {
  const { entity, project } = useParams({ strict: false })
  const isNamed = entity !== undefined && project !== undefined
  const { data } = useQuery({ ...projectsQuery(), enabled: !isNamed })
  useEffect(() => {
    if (entity !== undefined && project !== undefined) remember(LAST, { entity, project })
  }, [entity, project])
  const last = isNamed ? undefined : recall(LAST, isName)
  const isLast = (name: ProjectName) => last !== undefined && projectId(name) === projectId(last)
  const isElsewhere = data?.hasMore === true && last !== undefined && !data.names.some(isLast)
  const { data: others, isPending } = useQuery({
    ...projectsQuery(last && projectId(last)),
    enabled: isElsewhere,
  })
  if (isNamed) return { entity, project }
  if (data === undefined || (isElsewhere && isPending)) return last
  // A project of another server may be remembered under the same address.
  return [...data.names, ...(others?.names ?? [])].find(isLast) ?? data.names[0]
}
