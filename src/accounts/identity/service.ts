import { conflict, notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { UniqueViolation } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import type { UserRow } from '../user-queries.ts'
import * as queries from '../user-queries.ts'
import { checkIsFree } from './names.ts'
import type { Role } from './rights.ts'

export interface NewUser {
  name: string
  email?: string | null | undefined
  kind: 'person' | 'service'
  isOperator?: boolean
}

/** Who gives a role: an operator, another admin of the entity, or groups of the sign-in provider. */
export type RoleSource = 'operator' | 'admin' | 'groups'

/** Users, entities and who belongs to which. Callers check rights and record what they did. */
export interface Identity {
  user(id: string): Promise<UserRow | undefined>
  /** @throws 404 */
  userNamed(name: string): Promise<UserRow>
  userByEmail(email: string): Promise<UserRow | undefined>
  /**
   * Adds a user; a person gets an entity of the same name, as its admin.
   * @throws 400 for a bad name, 409 for one that is taken.
   */
  addUser(tx: ControlTx, user: NewUser): Promise<UserRow>
  /** Gives a person the entity of the same name, as its admin. */
  giveOwnEntity(tx: ControlTx, person: UserRow): Promise<void>
  /** @throws 404 for a name that no person and no team has. */
  checkEntity(name: string): Promise<void>
  /** The entity of a person alone; undefined for a service account. @throws 404 for an unknown user */
  personalEntityOf(user: string): Promise<string | undefined>
  /** Adds a team with its first admin. @throws 400, 409 as {@link addUser} */
  addTeam(tx: ControlTx, name: string, admin: UserRow): Promise<void>
  /**
   * Checks that an entity has a name, and makes one of it where it is only that of projects, from before there were
   * accounts, even if it is not valid for new teams, or that of a person without a personal entity.
   * @throws 404 for any other name
   */
  ensureEntity(tx: ControlTx, name: string): Promise<void>
  /**
   * Adds a member or changes a role. The first team that an operator or groups give a user becomes the entity of
   * requests that name none: other admins, such as every person of the own entity, must not decide where these go.
   */
  setRole(tx: ControlTx, entity: string, user: UserRow, role: Role, from: RoleSource): Promise<void>
  /**
   * Removes a member; false where there was none. Where requests of the member went there that name no entity, those of
   * a person go to the person's own again; a service account keeps the team until it has another one.
   */
  removeRole(tx: ControlTx, entity: string, user: UserRow): Promise<boolean>
  /** The entities that a user belongs to; of a service account the last one where it belongs to none any more. */
  teamsOf(user: UserRow, tx?: ControlTx): Promise<string[]>
  /** Roles of a user by entity; within a transaction, as it sees them. */
  rolesOf(userId: string, tx?: ControlTx): Promise<Map<string, Role>>
  /** The operator of longest standing, made where there is none, who then manages every entity that has projects. */
  ensureOperator(): Promise<UserRow>
}

export function createIdentity({ control }: { control: ControlDb }): Identity {
  async function userNamed(name: string): Promise<UserRow> {
    const row = await queries.findUserByName(control, name)
    if (row === undefined) throw notFound('user', name)
    return row
  }

  async function addUser(tx: ControlTx, user: NewUser): Promise<UserRow> {
    await checkIsFree(tx, user.name)
    const row: UserRow = {
      id: newId(),
      name: user.name,
      email: user.email?.toLowerCase() ?? null,
      kind: user.kind,
      is_operator: user.isOperator ? 1 : 0,
      operator_from_groups: 0,
      default_entity: user.name,
      created_at: nowIso(),
      disabled_at: null,
    }
    await queries.insertUser(tx, row).catch((error: unknown) => {
      throw error instanceof UniqueViolation
        ? conflict('A user with this name or mail address exists')
        : error
    })
    if (user.kind === 'service') return row
    await giveOwnEntity(tx, row)
    return row
  }

  async function addTeam(tx: ControlTx, name: string, admin: UserRow): Promise<void> {
    await checkIsFree(tx, name)
    await queries.insertEntity(tx, { name, kind: 'team', created_at: nowIso() })
    await setRole(tx, name, admin, 'admin', 'operator')
  }

  async function rolesOf(userId: string, tx: ControlTx = control): Promise<Map<string, Role>> {
    const rows = await queries.rolesOf(tx, userId)
    return new Map(rows.map(({ entity, role }) => [entity, role]))
  }

  async function teamsOf(user: UserRow, tx: ControlTx = control): Promise<string[]> {
    const teams = [...(await rolesOf(user.id, tx)).keys()]
    return teams.length > 0 ? teams : [user.default_entity]
  }

  async function ensureOperator(): Promise<UserRow> {
    return control.transaction().execute(async (tx) => {
      const [oldest] = await queries.listOperators(tx)
      if (oldest !== undefined) return oldest
      const used = await queries.entitiesOfProjects(tx)
      const name = ['admin', 'operator', `admin-${newId().slice(-6)}`].find((free) => !used.includes(free))
      const admin = await addUser(tx, { name: name ?? 'admin', kind: 'person', isOperator: true })
      for (const entity of used) {
        await queries.insertEntity(tx, { name: entity, kind: 'team', created_at: nowIso() })
        await setRole(tx, entity, admin, 'admin', 'operator')
      }
      return admin
    })
  }

  return {
    user: (id) => queries.findUser(control, id),
    userNamed,
    userByEmail: (email) => queries.findUserByEmail(control, email.toLowerCase()),
    addUser,
    giveOwnEntity,
    async checkEntity(name) {
      if ((await queries.findEntity(control, name)) === undefined) throw notFound('team', name)
    },
    async personalEntityOf(user) {
      const { name, kind } = await userNamed(user)
      const own = kind === 'person' ? await queries.findEntity(control, name) : undefined
      return own?.kind === 'personal' ? name : undefined
    },
    addTeam,
    ensureEntity,
    setRole,
    removeRole,
    teamsOf,
    rolesOf,
    ensureOperator,
  }
}

async function giveOwnEntity(tx: ControlTx, person: UserRow): Promise<void> {
  await queries.insertEntity(tx, { name: person.name, kind: 'personal', created_at: nowIso() })
  await setRole(tx, person.name, person, 'admin', 'admin')
}

async function ensureEntity(tx: ControlTx, name: string): Promise<void> {
  if ((await queries.findEntity(tx, name)) !== undefined) return
  const user = await queries.findUserByName(tx, name)
  if (user?.kind === 'person') return giveOwnEntity(tx, user)
  const hasProjects = (await queries.entitiesOfProjects(tx)).includes(name)
  if (!hasProjects || user !== undefined) throw notFound('team', name)
  await queries.insertEntity(tx, { name, kind: 'team', created_at: nowIso() })
}

async function setRole(
  tx: ControlTx,
  entity: string,
  user: UserRow,
  role: Role,
  from: RoleSource,
): Promise<void> {
  const { id: user_id, name, default_entity } = user
  const hasOwnAsDefault = entity !== name && default_entity === name
  const isFirst = from !== 'admin' && hasOwnAsDefault && (await queries.rolesOf(tx, user_id)).length <= 1
  const from_groups = from === 'groups' ? 1 : 0
  await queries.setRole(tx, { entity, user_id, role, created_at: nowIso(), from_groups })
  if (isFirst) await queries.updateUser(tx, user_id, { default_entity: entity })
}

async function removeRole(tx: ControlTx, entity: string, user: UserRow): Promise<boolean> {
  const wasMember = await queries.removeMember(tx, entity, user.id)
  if (user.default_entity === entity) {
    const [other] = user.kind === 'service' ? await queries.rolesOf(tx, user.id) : []
    const default_entity = user.kind === 'person' ? user.name : (other?.entity ?? entity)
    await queries.updateUser(tx, user.id, { default_entity })
  }
  return wasMember
}
