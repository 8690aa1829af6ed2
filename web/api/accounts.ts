import { queryOptions } from '@tanstack/react-query'
import type { AuditEvent } from '../../src/accounts/audit/wire.ts'
import type { ApiKey, KeyCreateReq, KeyCreateRes } from '../../src/accounts/keys/wire.ts'
import type { MeRes } from '../../src/accounts/sessions/wire.ts'
import type { Member, Team } from '../../src/accounts/teams/wire.ts'
import type { User, UserCreateRes } from '../../src/accounts/users/wire.ts'
import { askJson } from './client.ts'

export type { ApiKey, AuditEvent, KeyCreateReq, Member, MeRes, User }

const BASE = '/v1/accounts'

/** Who the person is, and what the person belongs to. */
export const meQuery = queryOptions({
  queryKey: ['accounts', 'me'],
  staleTime: 60_000,
  queryFn: ({ signal }) => askJson<MeRes>(`${BASE}/me`, { signal }),
})

export function keysQuery(user: string) {
  return queryOptions({
    queryKey: ['accounts', 'keys', user],
    queryFn: async ({ signal }) =>
      (
        await askJson<{ data: ApiKey[] }>(`${BASE}/keys?limit=100&user=${encodeURIComponent(user)}`, {
          signal,
        })
      ).data,
  })
}

export function createKey(body: Partial<KeyCreateReq> & { name: string }): Promise<KeyCreateRes> {
  return askJson(`${BASE}/keys`, { body })
}

export function revokeKey(id: string): Promise<unknown> {
  return askJson(`${BASE}/keys/${encodeURIComponent(id)}`, { method: 'DELETE' })
}

export const teamsQuery = queryOptions({
  queryKey: ['accounts', 'teams'],
  queryFn: async ({ signal }) => (await askJson<{ data: Team[] }>(`${BASE}/teams`, { signal })).data,
})

export function createTeam(name: string): Promise<Team> {
  return askJson(`${BASE}/teams`, { body: { name } })
}

function teamPath(entity: string, rest: string): string {
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

export function addServiceAccount(entity: string, name: string): Promise<Member> {
  return askJson(teamPath(entity, 'service-accounts'), { body: { name } })
}

export const usersQuery = queryOptions({
  queryKey: ['accounts', 'users'],
  queryFn: async ({ signal }) =>
    (await askJson<{ data: User[] }>(`${BASE}/users?limit=100`, { signal })).data,
})

export function createUser(name: string): Promise<UserCreateRes> {
  return askJson(`${BASE}/users`, { body: { name } })
}

export function changeUser(name: string, body: { is_operator?: boolean; disabled?: boolean }): Promise<User> {
  return askJson(`${BASE}/users/${encodeURIComponent(name)}`, { method: 'PUT', body })
}

/** A link that signs the user in once. */
export async function signInLink(name: string): Promise<string> {
  const path = `${BASE}/users/${encodeURIComponent(name)}/sign-in-link`
  return (await askJson<{ sign_in_url: string }>(path, { body: {} })).sign_in_url
}

/** The newest events of an entity, or of the whole server for operators. */
export function auditQuery(entity: string | undefined) {
  const query = new URLSearchParams({ limit: '100', ...(entity !== undefined && { entity }) })
  return queryOptions({
    queryKey: ['accounts', 'audit', entity ?? null],
    queryFn: async ({ signal }) =>
      (await askJson<{ data: AuditEvent[] }>(`${BASE}/audit?${query}`, { signal })).data,
  })
}
