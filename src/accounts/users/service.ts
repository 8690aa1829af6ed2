import { conflict, notFound } from '../../errors.ts'
import { type CallContext, originOf } from '../../http/caller.ts'
import type { PublicAddress } from '../../settings/public-address.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { toPage } from '../../wire/page-wire.ts'
import type { Audit } from '../audit/service.ts'
import type { Identity } from '../identity/service.ts'
import type { Keys } from '../keys/service.ts'
import type { Sessions } from '../sessions/service.ts'
import {
  findUserByName,
  listOperators,
  listUsers,
  membersOf,
  type UserRow,
  updateUser,
} from '../user-queries.ts'
import type * as wire from './wire.ts'

/** The people of a server, as its operators manage them. */
export interface Users {
  /** @throws 400 for a bad name, 409 for one that is taken */
  create(req: wire.UserCreateReq, context: CallContext): Promise<wire.UserCreateRes>
  list(req: wire.UsersQuery): Promise<wire.UsersRes>
  /** @throws 404, and 409 for what would leave the server without an operator or make a service account one */
  change(req: wire.UserPath & wire.UserChangeReq, context: CallContext): Promise<wire.User>
  /** A new link, for a user who has lost the first one or has no key. @throws 404 */
  signInLink(req: wire.UserPath, context: CallContext): Promise<wire.SignInLinkRes>
  /**
   * Refuses the keys and ends the sessions of a user who is about to be erased, in a transaction; the caller has keys
   * forgotten after it. @throws 404, and 409 for the only operator and the only admin of a team.
   */
  close(tx: ControlTx, name: string): Promise<void>
}

export interface UsersDeps {
  control: ControlDb
  identity: Identity
  keys: Pick<Keys, 'forget'>
  sessions: Sessions
  audit: Audit
  publicAddress: PublicAddress
}

export function createUsers(deps: UsersDeps): Users {
  const { control, identity, keys, sessions, audit, publicAddress } = deps

  async function linkFor(row: UserRow, context: CallContext): Promise<string> {
    return publicAddress(originOf(context)) + (await sessions.makeLink(row, context.caller))
  }

  async function create(req: wire.UserCreateReq, context: CallContext) {
    const { name, email, is_operator: isOperator } = req
    const row = await control.transaction().execute(async (tx) => {
      const added = await identity.addUser(tx, { name, email, kind: 'person', isOperator })
      const details = { email: added.email, is_operator: isOperator }
      await audit.record(context.caller, { action: 'user.create', entity: null, subject: name, details }, tx)
      return added
    })
    return { ...toWire(row), sign_in_url: await linkFor(row, context) }
  }

  async function list({ after, limit }: wire.UsersQuery) {
    const rows = await listUsers(control, { after: after ?? '', limit: limit + 1 })
    return { ...toPage(rows.map(toWire), limit), last_id: rows.slice(0, limit).at(-1)?.name ?? '' }
  }

  async function change({ user, ...req }: wire.UserPath & wire.UserChangeReq, { caller }: CallContext) {
    const row = await identity.userNamed(user)
    // Admins of its teams make its keys, and so would be operators too.
    if (req.is_operator === true && row.kind === 'service')
      throw conflict(`${user} is a service account: only persons are operators`)
    const changes: Partial<UserRow> = {
      ...(req.is_operator !== undefined && { is_operator: req.is_operator ? 1 : 0, operator_from_groups: 0 }),
      ...(req.disabled !== undefined && { disabled_at: req.disabled ? (row.disabled_at ?? nowIso()) : null }),
    }
    const changed = { ...row, ...changes }
    await control.transaction().execute(async (tx) => {
      if (Object.keys(changes).length > 0) await updateUser(tx, row.id, changes)
      if ((await listOperators(tx)).length === 0)
        throw conflict('A server needs an operator: make another one first')
      if (req.disabled === true) await sessions.endAll(tx, row.id)
      await audit.record(caller, { action: 'user.change', entity: null, subject: user, details: req }, tx)
    })
    keys.forget()
    return toWire(changed)
  }

  async function signInLink({ user }: wire.UserPath, context: CallContext) {
    const row = await identity.userNamed(user)
    await audit.record(context.caller, { action: 'user.sign_in_link', entity: null, subject: user })
    return { sign_in_url: await linkFor(row, context) }
  }

  async function close(tx: ControlTx, name: string): Promise<void> {
    const row = await findUserByName(tx, name)
    if (row === undefined) throw notFound('user', name)
    await updateUser(tx, row.id, { disabled_at: row.disabled_at ?? nowIso() })
    if (row.is_operator === 1 && (await listOperators(tx)).length === 0)
      throw conflict('A server needs an operator: make another one first')
    for (const [entity, role] of await identity.rolesOf(row.id, tx)) {
      if (role !== 'admin' || entity === row.name) continue
      const members = await membersOf(tx, entity)
      if (!members.some((other) => other.role === 'admin' && other.disabled_at === null))
        throw conflict(`${entity} needs an admin: make another member one first`)
    }
    await sessions.endAll(tx, row.id)
  }

  return { create, list, change, signInLink, close }
}

function toWire({ id, name, email, kind, is_operator, created_at, disabled_at }: UserRow): wire.User {
  return { id, name, email, kind, is_operator: is_operator === 1, created_at, disabled_at }
}
