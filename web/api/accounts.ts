import { queryOptions } from '@tanstack/react-query'
import type { ApiKey, KeyCreateReq, KeyCreateRes } from '../../src/accounts/keys/wire.ts'
import type { MeRes } from '../../src/accounts/sessions/wire.ts'
import type { Member, Team } from '../../src/accounts/teams/wire.ts'
import type { User, UserCreateReq, UserCreateRes } from '../../src/accounts/users/wire.ts'
import { askJson } from './client.ts'
import { pagesQuery } from './pages.ts'

export type { ApiKey, KeyCreateReq, KeyCreateRes, Member, MeRes, Team, User, UserCreateRes }

const BASE = '/v1/accounts'

/** Who the person is, and what the person belongs to. */
export const meQuery = queryOptions({
  queryKey: ['accounts', 'me'],
  staleTime: 60_000,
  queryFn: ({ signal }) => askJson<MeRes>(`${BASE}/me`, { signal }),
})

/** What the person is in an entity; undefined where the person does not belong to it. */
export function roleIn(me: MeRes, entity: string): Member['role'] | undefined {
  // Such a server has one user, whose every entity is.
  if (me.auth === 'local') return 'admin'
  return me.entities.find(({ name }) => name === entity)?.role
}

export function keysQuery(user: string) {
  return pagesQuery<ApiKey>({
    key: ['accounts', 'keys'],
    path: `${BASE}/keys`,
    query: { user },
    cursorOf: ({ id }) => id,
  })
}

export function createKey(body: Partial<KeyCreateReq> & { name: string }): Promise<KeyCreateRes> {
  return askJson(`${BASE}/keys`, { body })
}

export function revokeKey(id: string): Promise<unknown> {
  return askJson(`${BASE}/keys/${encodeURIComponent(id)}`, { method: 'DELETE' })
}

/** Those that the person belongs to; for operators all. */
export const teamsQuery = pagesQuery<Team>({
  key: ['accounts', 'teams'],
  path: `${BASE}/teams`,
  cursorOf: ({ name }) => name,
})

export function createTeam(body: { name: string; admin?: string }): Promise<Team> {
  return askJson(`${BASE}/teams`, { body })
}

/** Below the endpoints of a team. */
export function teamPath(entity: string, rest: string): string {
  return `${BASE}/teams/${encodeURIComponent(entity)}/${rest}`
}

export function membersQuery(entity: string) {
  return queryOptions({
    queryKey: ['accounts', 'members', entity],
    queryFn: async ({ signal }) =>
      (await askJson<{ data: Member[] }>(teamPath(entity, 'members'), { signal })).data,
  })
}

export function setMember(entity: string, user: string, role: Member['role']): Promise<Member> {
  return askJson(teamPath(entity, `members/${encodeURIComponent(user)}`), { method: 'PUT', body: { role } })
}

export function removeMember(entity: string, user: string): Promise<unknown> {
  return askJson(teamPath(entity, `members/${encodeURIComponent(user)}`), { method: 'DELETE' })
}

export function addServiceAccount(entity: string, name: string, role: Member['role']): Promise<Member> {
  return askJson(teamPath(entity, 'service-accounts'), { body: { name, role } })
}

export const usersQuery = pagesQuery<User>({
  key: ['accounts', 'users'],
  path: `${BASE}/users`,
  cursorOf: ({ name }) => name,
})

export function createUser(body: Partial<UserCreateReq> & { name: string }): Promise<UserCreateRes> {
  return askJson(`${BASE}/users`, { body })
}

export function changeUser(name: string, body: { is_operator?: boolean; disabled?: boolean }): Promise<User> {
  return askJson(`${BASE}/users/${encodeURIComponent(name)}`, { method: 'PUT', body })
}

/** A link that signs the user in once. */
export async function signInLink(name: string): Promise<string> {
  const path = `${BASE}/users/${encodeURIComponent(name)}/sign-in-link`
  return (await askJson<{ sign_in_url: string }>(path, { body: {} })).sign_in_url
}
