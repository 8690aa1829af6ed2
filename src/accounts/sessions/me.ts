import type { CallContext } from '../../http/caller.ts'
import type { Identity } from '../identity/service.ts'
import type { MeRes, SignInOptionsRes } from './wire.ts'

/** How the server knows its callers. */
export type AuthMode = 'local' | 'keys'

/** What callers ask about themselves. */
export interface Me {
  read(input: object, context: CallContext): Promise<MeRes>
  options(): SignInOptionsRes
}

export function createMe(deps: { identity: Identity; mode: AuthMode; singleSignOn: boolean }): Me {
  const { identity, mode, singleSignOn: single_sign_on } = deps

  async function read(_input: object, { caller }: CallContext): Promise<MeRes> {
    const { user, defaultEntity: default_entity, rights } = caller
    const about = { auth: mode, user, default_entity, is_operator: rights.isOperator, single_sign_on }
    if (mode === 'local') return { ...about, entities: [{ name: default_entity, role: 'admin' }] }
    const roles = await identity.rolesOf((await identity.userNamed(user)).id)
    return { ...about, entities: [...roles].map(([name, role]) => ({ name, role })) }
  }

  return { read, options: () => ({ auth: mode, single_sign_on }) }
}
