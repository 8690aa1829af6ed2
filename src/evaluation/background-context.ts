import type { CallContext } from '../http/caller.ts'
import { newId } from '../ids.ts'

/** The user and project that background work belongs to. */
export interface Principal {
  user: string
  key_id: string
}

export function principalOf({ caller }: CallContext): Principal {
  return { user: caller.user, key_id: caller.keyId }
}

/** The context of work that continues after the request that started it was answered. */
export function backgroundContext({ user, key_id }: Principal, signal: AbortSignal): CallContext {
  return {
    caller: { user, defaultEntity: user, keyId: key_id },
    signal,
    requestId: newId(),
    header: () => undefined,
  }
}
