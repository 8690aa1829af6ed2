import { conflict, invalidRequest, notAllowed, notFound } from '../../errors.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import type { Audit } from '../audit/service.ts'
import type { Identity } from '../identity/service.ts'
import type { Keys } from '../keys/service.ts'
import {
  countServiceAccounts,
  findEntity,
  findUserByName,
  listEntities,
  membersOf,
  type UserRow,
  updateUser,
} from '../user-queries.ts'
import type * as wire from './wire.ts'

/** Service accounts that one entity may make; each has a name among those of all users and teams. */
const SERVICE_ACCOUNTS_MAX = 100

/** Teams and their members, as admins of each manage them. */
export interface Teams {
  /** Adds a team. @throws 400 for a bad name, 409 for one that is taken, 404 for an unknown admin */
  create(req: wire.TeamCreateReq, context: CallContext): Promise<wire.Team>
  /** Teams and entities of single users: all for operators, else those that the caller belongs to. */
  list(req: wire.TeamsQuery, context: CallContext): Promise<wire.TeamsRes>
  /** Mail addresses are shown to operators alone. @throws 404 for an unknown team */
  members(req: wire.TeamPath, context: CallContext): Promise<wire.MembersRes>
  /**
   * Adds a member or changes a role.
   * @throws 404 for an unknown team or user, 409 for the last admin; 403, 404 for a service account of teams that the
   * caller does not manage
   */
  setRole(req: wire.MemberPath & wire.MemberReq, context: CallContext): Promise<wire.Member>
  /**
   * An unknown user is no member, as are those of other teams.
   * @throws 404 for an unknown team, 409 for the last admin
   */
  remove(req: wire.MemberPath, context: CallContext): Promise<wire.MemberRemoveRes>
  /**
   * Adds a user for programs, whose keys admins of the team make. Every person is the admin of an entity of their own,
   * whose service accounts begin with its name: others would take names of users and teams to come.
   * @throws 400 for a bad name, 409 for one that is taken or kept for a team, and for too many of the entity
   */
  addServiceAccount(req: wire.TeamPath & wire.ServiceAccountReq, context: CallContext): Promise<wire.Member>
}

export interface TeamsDeps {
  control: ControlDb
  identity: Identity
  keys: Pick<Keys, 'forget'>
  audit: Audit
  /** Names that are kept for teams. */
  reservedNames: ReadonlySet<string>
}

export function createTeams({ control, identity, keys, audit, reservedNames }: TeamsDeps): Teams {
  async function create({ name, admin }: wire.TeamCreateReq, { caller }: CallContext) {
    const first = await identity.userNamed(admin ?? caller.user)
    await control.transaction().execute(async (tx) => {
      await identity.addTeam(tx, name, first)
      const added = { entity: name, subject: name, details: { admin: first.name } }
      await audit.record(caller, { action: 'team.create', ...added }, tx)
    })
    keys.forget()
    return teamOf(name)
  }

  async function teamOf(name: string): Promise<wire.Team> {
    return (await findEntity(control, name)) ?? { name, kind: 'team', created_at: nowIso() }
  }

  async function list({ after, limit }: wire.TeamsQuery, { caller }: CallContext) {
    const { rights } = caller
    if (rights.isOperator && rights.entities !== 'all') {
      const rows = await listEntities(control, { after: after ?? '', limit: limit + 1 })
      return { data: rows.slice(0, limit), has_more: rows.length > limit }
    }
    const names = rights.entities === 'all' ? [caller.defaultEntity] : [...rights.entities].sort()
    const page = names.filter((name) => name > (after ?? '')).slice(0, limit + 1)
    const data = await Promise.all(page.slice(0, limit).map(teamOf))
    return { data, has_more: page.length > limit }
  }

  async function members({ entity }: wire.TeamPath, { caller }: CallContext) {
    await identity.checkEntity(entity)
    const rows = await membersOf(control, entity)
    return { data: rows.map((row) => memberOf(row, row.role, caller)) }
  }

  async function setRole({ entity, user, role }: wire.MemberPath & wire.MemberReq, { caller }: CallContext) {
    const row = await identity.userNamed(user)
    if (role !== 'admin') checkIsNoOwner(entity, row)
    await control.transaction().execute(async (tx) => {
      if (row.kind === 'service') await checkMayShare(tx, caller, row, entity)
      const before = await membersOf(tx, entity)
      await identity.ensureEntity(tx, entity)
      await identity.setRole(tx, entity, row, role, caller.rights.isOperator ? 'operator' : 'admin')
      await checkKeepsAdmin(tx, entity, before)
      await audit.record(caller, { action: 'member.set', entity, subject: user, details: { role } }, tx)
    })
    keys.forget()
    return memberOf(row, role, caller)
  }

  /**
   * Admins of a team can make keys of its service accounts, and these reach all teams of the account. So adding an
   * account to another team takes an admin of all its teams.
   * @throws 404 as for no user for callers who belong to none of them, else 403
   */
  async function checkMayShare(
    tx: ControlTx,
    { rights }: Caller,
    account: UserRow,
    entity: string,
  ): Promise<void> {
    const teams = await identity.teamsOf(account, tx)
    if (rights.isOperator || teams.includes(entity)) return
    if (!teams.some((team) => rights.allows('read', { entity: team }))) throw notFound('user', account.name)
    if (!teams.every((team) => rights.allows('manage', { entity: team })))
      throw notAllowed(`${account.name} belongs to teams that this key does not manage`)
  }

  async function remove({ entity, user }: wire.MemberPath, { caller }: CallContext) {
    await identity.checkEntity(entity)
    const row = await findUserByName(control, user)
    if (row === undefined) return { removed: false }
    checkIsNoOwner(entity, row)
    const removed = await control.transaction().execute(async (tx) => {
      const before = await membersOf(tx, entity)
      if (!(await identity.removeRole(tx, entity, row))) return false
      await checkKeepsAdmin(tx, entity, before)
      await audit.record(caller, { action: 'member.remove', entity, subject: user }, tx)
      return true
    })
    keys.forget()
    return { removed }
  }

  async function addServiceAccount(
    { entity, name, role }: wire.TeamPath & wire.ServiceAccountReq,
    { caller }: CallContext,
  ) {
    const row = await control.transaction().execute(async (tx) => {
      await checkServiceAccount(tx, { entity, name, reservedNames })
      const added = await identity.addUser(tx, { name, kind: 'service' })
      await updateUser(tx, added.id, { default_entity: entity })
      await identity.setRole(tx, entity, added, role, 'admin')
      const created = { entity, subject: name, details: { role } }
      await audit.record(caller, { action: 'service_account.create', ...created }, tx)
      return added
    })
    return memberOf(row, role, caller)
  }

  return { create, list, members, setRole, remove, addServiceAccount }
}

/**
 * A team that groups have left without an admin may stay so.
 * @throws 409 where a change took the last admin, or made a team without one
 */
async function checkKeepsAdmin(tx: ControlDb, entity: string, before: readonly Standing[]): Promise<void> {
  const hadNone = before.length > 0 && !before.some(isAdmin)
  if (!hadNone && !(await membersOf(tx, entity)).some(isAdmin))
    throw conflict(`${entity} needs an admin: make another member one first`)
}

/** What makes a member an admin. */
type Standing = Pick<UserRow, 'disabled_at'> & { role: wire.Member['role'] }

function isAdmin({ role, disabled_at }: Standing): boolean {
  return role === 'admin' && disabled_at === null
}

/** A member as a caller may see it: an admin, who may add anyone, must not learn anyone's mail address by that. */
function memberOf(
  { name, email, kind, disabled_at }: Pick<UserRow, 'name' | 'email' | 'kind' | 'disabled_at'>,
  role: wire.Member['role'],
  { rights }: Caller,
): wire.Member {
  return { user: name, email: rights.isOperator ? email : null, kind, role, disabled: disabled_at !== null }
}

/**
 * @throws 400 for the name of an account of no team, 409 for one that is kept for a team, and for too many of the
 * entity
 */
async function checkServiceAccount(
  tx: ControlTx,
  { entity, name, reservedNames }: { entity: string; name: string; reservedNames: ReadonlySet<string> },
): Promise<void> {
  const isPersonal = (await findEntity(tx, entity))?.kind === 'personal'
  if (isPersonal && !name.startsWith(`${entity}-`))
    throw invalidRequest(`name: a service account of ${entity}, which is no team, begins with "${entity}-"`)
  if (reservedNames.has(name)) throw conflict(`The name ${name} is kept for a team`)
  if ((await countServiceAccounts(tx, entity)) >= SERVICE_ACCOUNTS_MAX)
    throw conflict(`${entity} has ${SERVICE_ACCOUNTS_MAX} service accounts, which is the most`)
}

/** @throws 409 for the person whose own entity it is: only its admins may manage that person's keys */
function checkIsNoOwner(entity: string, { name, kind }: UserRow): void {
  if (kind === 'person' && name === entity)
    throw conflict(`${name} stays an admin of ${entity}, the entity of that user`)
}
