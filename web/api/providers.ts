import { queryOptions } from '@tanstack/react-query'
import type { Provider } from '../../src/inference/providers/wire.ts'
import { teamPath } from './accounts.ts'
import { askJson } from './client.ts'

export type { Provider }

/** The services that a team may ask for completions. */
export function providersQuery(entity: string) {
  return queryOptions({
    queryKey: ['accounts', 'providers', entity],
    queryFn: async ({ signal }) =>
      (await askJson<{ data: Provider[] }>(teamPath(entity, 'providers'), { signal })).data,
  })
}

/** Adds a service or changes one; without a key, the stored one stays. */
export function setProvider(
  entity: string,
  { name, ...body }: { name: string; base_url: string; api_key?: string },
): Promise<Provider> {
  return askJson(providerPath(entity, name), { method: 'PUT', body })
}

export function removeProvider(entity: string, name: string): Promise<unknown> {
  return askJson(providerPath(entity, name), { method: 'DELETE' })
}

function providerPath(entity: string, name: string): string {
  return teamPath(entity, `providers/${encodeURIComponent(name)}`)
}
