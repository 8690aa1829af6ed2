import { NO_RIGHTS } from '../../access.ts'
import { unauthorized } from '../../errors.ts'
import type { Caller } from '../../http/caller.ts'
import type { AccessTokens } from '../identity-providers/access-tokens.ts'
import type { Keys } from '../keys/service.ts'
import type { Sessions } from '../sessions/service.ts'

/** Knows callers by their keys, access tokens and sessions. */
export interface AccountsAuthenticator {
  callerOf(shown: { key: string | undefined; session: string | undefined }): Promise<Caller>
  anonymous: Caller
}

export function createAccountsAuthenticator(deps: {
  keys: Pick<Keys, 'callerOf'>
  accessTokens: Pick<AccessTokens, 'isOne' | 'callerOf'>
  sessions: Pick<Sessions, 'callerOf'>
}): AccountsAuthenticator {
  return {
    async callerOf({ key, session }) {
      if (key !== undefined)
        return deps.accessTokens.isOne(key) ? deps.accessTokens.callerOf(key) : deps.keys.callerOf(key)
      if (session !== undefined) return deps.sessions.callerOf(session)
      throw unauthorized()
    },
    anonymous: { user: '', defaultEntity: '', keyId: '', rights: NO_RIGHTS },
  }
}
