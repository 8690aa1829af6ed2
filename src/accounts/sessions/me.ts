import { type Rights, requireRight, VERBS } from '../../access.ts'
import { notAllowed } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Audit, Audited } from '../audit/service.ts'
import { isUnlimited } from '../identity/rights.ts'
import type { Identity } from '../identity/service.ts'
import type { Keys } from '../keys/service.ts'
import { updateUser } from '../user-queries.ts'
import type { MeChangeReq, MeRes, SignInOptionsRes } from './wire.ts'

/** How the server knows its callers. */
export type AuthMode = 'local' | 'keys'

/** What callers ask and decide about themselves. */
export interface Me {
  read(input: object, context: CallContext): Promise<MeRes>
  /** @throws 403 for an entity that the caller does not belong to, for service accounts and for keys with limits */
  change(req: MeChangeReq, context: CallContext): Promise<MeRes>
  options(): SignInOptionsRes
}

export interface MeDeps {
  control: ControlDb
  identity: Identity
  keys: Pick<Keys, 'forget'>
  audit: Audit
  mode: AuthMode
  singleSignOn: boolean
}

export function createMe(deps: MeDeps): Me {
  const { control, identity, keys, audit, mode, singleSignOn: single_sign_on } = deps

  async function read(_input: object, { caller }: CallContext): Promise<MeRes> {
    const { user, defaultEntity: default_entity, rights } = caller
    const about = { auth: mode, user, default_entity, is_operator: rights.isOperator, single_sign_on }
    if (mode === 'local') return { ...about, entities: [{ name: default_entity, role: 'admin' }] }
    const roles = await identity.rolesOf((await identity.userNamed(user)).id)
    const entities = [...roles].map(([name, role]) => ({ name, role }))
    return { ...about, entities: entities.filter(({ name }) => allowsAny(rights, name)) }
  }

  async function change({ default_entity }: MeChangeReq, context: CallContext): Promise<MeRes> {
    const { caller } = context
    const row = await identity.userNamed(caller.user)
    // It says where the requests of all keys of the user go.
    if (row.kind !== 'person' || !isUnlimited(caller))
      throw notAllowed('Only persons choose this, with a key without limits or signed in')
    requireRight(caller.rights, 'read', { entity: default_entity })
    await control.transaction().execute(async (tx) => {
      await updateUser(tx, row.id, { default_entity })
      const event: Audited = {
        action: 'user.change',
        entity: row.name,
        subject: row.name,
        details: { default_entity },
      }
      await audit.record(caller, event, tx)
    })
    keys.forget()
    return read({}, { ...context, caller: { ...caller, defaultEntity: default_entity } })
  }

  return { read, change, options: () => ({ auth: mode, single_sign_on }) }
}

/** Whether a key is of any use in an entity, which one with limits may not be in all entities of its user. */
function allowsAny(rights: Rights, entity: string): boolean {
  return VERBS.some((verb) => rights.allows(verb, { entity, project: rights.project }))
}
