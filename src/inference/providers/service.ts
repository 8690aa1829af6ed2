import type { Audit } from '../../accounts/audit/service.ts'
import { conflict, invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { PublicFetch } from '../../outbound-http.ts'
import type { Providers as Configured } from '../../settings/providers.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { SecretKey } from '../../stores/secret-key.ts'
import { nowIso } from '../../time.ts'
import type { ProviderRow } from './queries.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** Providers of one team: a request looks for one by its name, and pages show all. */
const PROVIDERS_MAX = 100

/** A service that may answer completions, and how it is reached. */
export interface FoundProvider {
  name: string
  baseUrl: string
  apiKey: string | undefined
  /** Sends requests to it: those of a team's own provider go to public addresses only. */
  fetch: typeof fetch
}

/** Services outside that a team asks for completions: its own, and those that the operator has configured for all. */
export interface ProviderRegistry {
  /** The team's own provider of a name, or else the configured one. @throws 400 for one whose key cannot be read */
  find(entity: string | undefined, name: string): Promise<FoundProvider | undefined>
  list(req: wire.ProvidersPath): Promise<wire.ProvidersRes>
  /** @throws 400 for an address that is not public, 409 for too many. */
  put(req: wire.ProviderPath & wire.ProviderReq, context: CallContext): Promise<wire.Provider>
  remove(req: wire.ProviderPath, context: CallContext): Promise<wire.ProviderRemoveRes>
}

export interface ProviderRegistryDeps {
  control: ControlDb
  secretKey: SecretKey
  configured: Configured
  publicFetch: PublicFetch
  audit: Audit
}

export function createProviderRegistry(deps: ProviderRegistryDeps): ProviderRegistry {
  const { control, secretKey, configured, publicFetch, audit } = deps

  async function find(entity: string | undefined, name: string): Promise<FoundProvider | undefined> {
    const row = entity === undefined ? undefined : await queries.findProvider(control, { entity, name })
    if (row !== undefined) {
      return { name, baseUrl: row.base_url, apiKey: keyOf(row), fetch: publicFetch.fetch }
    }
    const shared = configured.get(name)
    return shared && { name, ...shared, fetch }
  }

  /** @throws 400 for a key that another secret key has sealed, as after a restore without it */
  function keyOf({ name, sealed_key }: ProviderRow): string | undefined {
    if (sealed_key === null) return undefined
    try {
      return secretKey.unseal(sealed_key)
    } catch {
      throw invalidRequest(
        `The key of the provider ${name} cannot be read, since it was stored under another secret key: enter it again`,
      )
    }
  }

  async function list({ entity }: wire.ProvidersPath) {
    const own = (await queries.listProviders(control, entity)).map(toWire)
    const names = new Set(own.map(({ name }) => name))
    const shared = [...configured]
      .filter(([name]) => !names.has(name))
      .map(([name, { baseUrl, apiKey }]) => {
        const about = { name, base_url: baseUrl, has_key: apiKey !== undefined, source: 'server' as const }
        return { ...about, updated_at: null, updated_by: null }
      })
    return { data: [...own, ...shared] }
  }

  async function put(req: wire.ProviderPath & wire.ProviderReq, { caller }: CallContext) {
    const { entity, name, base_url, api_key } = req
    publicFetch.check(base_url)
    const known = await queries.listProviders(control, entity)
    const before = known.find((row) => row.name === name)
    if (before === undefined && known.length >= PROVIDERS_MAX)
      throw conflict(`${entity} has ${PROVIDERS_MAX} providers: remove one first`)
    // A key goes only to the address for which it was entered.
    const kept = before?.base_url === base_url ? before.sealed_key : null
    const row: ProviderRow = {
      entity,
      name,
      base_url,
      sealed_key: api_key === undefined ? kept : api_key === null ? null : secretKey.seal(api_key),
      updated_by: caller.user,
      updated_at: nowIso(),
    }
    await control.transaction().execute(async (tx) => {
      await queries.putProvider(tx, row)
      const details = { base_url, has_key: row.sealed_key !== null, key_changed: api_key !== undefined }
      await audit.record(caller, { action: 'provider.set', entity, subject: name, details }, tx)
    })
    return toWire(row)
  }

  async function remove({ entity, name }: wire.ProviderPath, { caller }: CallContext) {
    const removed = await control.transaction().execute(async (tx) => {
      const gone = await queries.deleteProvider(tx, { entity, name })
      if (gone) await audit.record(caller, { action: 'provider.remove', entity, subject: name }, tx)
      return gone
    })
    return { removed }
  }

  return { find, list, put, remove }
}

function toWire({ name, base_url, sealed_key, updated_at, updated_by }: ProviderRow): wire.Provider {
  return { name, base_url, has_key: sealed_key !== null, source: 'team', updated_at, updated_by }
}
