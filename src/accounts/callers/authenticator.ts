import { NO_RIGHTS } from '../../access.ts'
import { unauthorized } from '../../errors.ts'
import type { Caller } from '../../http/caller.ts'
import type { AccessTokens } from '../identity-providers/access-tokens.ts'
import type { Keys } from '../keys/service.ts'
import type { Sessions } from '../sessions/service.ts'

/** As `Credentials` of `http/`, which areas do not import. */
interface Shown {
  key: string | undefined
  session: string | undefined
  pageUser?: string | undefined
}

/** Knows callers by their keys, access tokens and sessions. */
export interface AccountsAuthenticator {
  callerOf(shown: Shown): Promise<Caller>
  anonymous: Caller
}

/** Longer names are no names. */
const SHOWN_CHARS = 64

export function createAccountsAuthenticator(deps: {
  keys: Pick<Keys, 'callerOf'>
  accessTokens: Pick<AccessTokens, 'isOne' | 'callerOf'>
  sessions: Pick<Sessions, 'callerOf'>
}): AccountsAuthenticator {
  return {
    async callerOf({ key, session, pageUser }) {
      if (key !== undefined)
        return deps.accessTokens.isOne(key) ? deps.accessTokens.callerOf(key) : deps.keys.callerOf(key)
      if (session === undefined) throw unauthorized()
      const caller = await deps.sessions.callerOf(session)
      if (pageUser !== undefined && pageUser !== caller.user)
        throw unauthorized(
          `This page is of ${pageUser.slice(0, SHOWN_CHARS)}, and ${caller.user} has signed in since: load it again.`,
        )
      return caller
    },
    anonymous: { user: '', defaultEntity: '', keyId: '', rights: NO_RIGHTS },
  }
}
