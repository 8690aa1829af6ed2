import { useQuery } from '@tanstack/react-query'
import { meQuery, roleIn } from './accounts.ts'
import { isSignedIn } from './key.ts'

/** The person's name, by which the server knows what the person wrote; undefined until it is known. */
export function useOwnName(): string | undefined {
  return useQuery({ ...meQuery, select: ({ user }) => user }).data
}

/** Why the person may not change a project, `entity/project`; undefined for those who may, and until it is known. */
export function useReadOnly(project: string): string | undefined {
  const [entity = ''] = project.split('/')
  const { data: role } = useQuery({
    ...meQuery,
    enabled: isSignedIn(),
    select: (me) => roleIn(me, entity),
  })
  return role === 'viewer' ? `Viewers of ${entity} only read` : undefined
}
