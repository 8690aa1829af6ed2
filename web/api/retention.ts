import { queryOptions } from '@tanstack/react-query'
import type { Erasure } from '../../src/retention/erasures/wire.ts'
import type { Retention, StoredRetention } from '../../src/retention/settings/wire.ts'
import { askJson } from './client.ts'
import { pagesQuery } from './pages.ts'
import { type ProjectName, projectId, projectPath } from './project.ts'

export type { Erasure, Retention, StoredRetention }

/** For how many days a project keeps its data. */
export function retentionQuery(name: ProjectName) {
  return queryOptions({
    queryKey: ['retention', projectId(name)],
    queryFn: ({ signal }) => askJson<StoredRetention>(projectPath(name, 'retention'), { signal }),
  })
}

/** @param version of the settings that these replace */
export function setRetention(name: ProjectName, body: Retention, version: string): Promise<StoredRetention> {
  return askJson(projectPath(name, `retention?if_version=${version}`), { method: 'PUT', body })
}

/** Begins the erasure of a project. */
export function eraseProject(name: ProjectName): Promise<Erasure> {
  return askJson(projectPath(name), { method: 'DELETE' })
}

/** Begins the erasure of a team with all its projects. */
export function eraseTeam(entity: string): Promise<Erasure> {
  return askJson(`/v1/accounts/teams/${encodeURIComponent(entity)}`, { method: 'DELETE' })
}

/** Begins the erasure of an account. @param data whether what the user wrote goes too */
export function eraseUser(user: string, data: 'with data' | 'account alone'): Promise<Erasure> {
  const path = `/v1/accounts/users/${encodeURIComponent(user)}?data=${data === 'with data'}`
  return askJson(path, { method: 'DELETE' })
}

const RUNNING_MS = 2_000

/** Receipts of erasures, the newest first; polled while one of them goes on. */
export const erasuresQuery = {
  ...pagesQuery<Erasure>({
    key: ['accounts', 'erasures'],
    path: '/v1/accounts/erasures',
    cursorOf: ({ id }) => id,
  }),
  refetchInterval: ({ state }: { state: { data?: { pages: { data: Erasure[] }[] } | undefined } }) =>
    state.data?.pages.some(({ data }) => data.some(({ state }) => state === 'running')) ? RUNNING_MS : false,
} as const
