import { NO_RIGHTS, type Rights } from '../access.ts'
import {
  type BackgroundWork,
  type Principal,
  type Principals,
  rightsToChange,
} from '../accounts/callers/principals.ts'
import type { CallContext } from '../http/caller.ts'
import { newId } from '../ids.ts'

export function principalOf({ caller }: CallContext): Principal {
  return { user: caller.user, key_id: caller.keyId }
}

/**
 * The context of scoring or evaluating in a project, with the rights of whom it is done for at this time.
 * @throws 403 for who may no longer begin such work
 */
export async function contextOfWork(
  principals: Principals,
  work: BackgroundWork,
  signal: AbortSignal,
): Promise<CallContext> {
  return backgroundContext(work, signal, await rightsToChange(principals, work))
}

/**
 * The context of work that continues after the request that started it was answered.
 * @param rights none for work that only reads the project that it belongs to
 */
export function backgroundContext(
  { user, key_id }: Principal,
  signal: AbortSignal,
  rights: Rights = NO_RIGHTS,
): CallContext {
  return {
    caller: { user, defaultEntity: user, keyId: key_id, rights },
    signal,
    requestId: newId(),
    header: () => undefined,
  }
}
