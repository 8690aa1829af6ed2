import { conflict, notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { UniqueViolation } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import type { UserRow } from '../user-queries.ts'
import * as queries from '../user-queries.ts'
import { checkName } from './names.ts'
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
  /** @throws 404 for a name that no user and no team has. */
  checkEntity(name: string): Promise<void>
  /** Adds a team with its first admin. @throws 400, 409 as {@link addUser} */
  addTeam(tx: ControlTx, name: string, admin: UserRow): Promise<void>
  /**
   * Adds a member or changes a role. The first team that an operator or groups give a user becomes the entity of requests
   * that name none: other admins, such as every person of the own entity, must not decide where these go.
   */
  setRole(tx: ControlTx, entity: string, user: UserRow, role: Role, from: RoleSource): Promise<void>
  /** Removes a member; false where there was none. */
  removeRole(tx: ControlTx, entity: string, user: UserRow): Promise<boolean>
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

  async function claimEntity(tx: ControlTx, name: string, kind: 'team' | 'personal'): Promise<void> {
    checkName(name)
    const isNew = await queries.insertEntity(tx, { name, kind, created_at: nowIso() })
    if (!isNew || (await queries.entitiesOfProjects(tx)).includes(name))
      throw conflict(`The name ${name} is taken`)
  }

  async function addUser(tx: ControlTx, user: NewUser): Promise<UserRow> {
    checkName(user.name)
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
        ? conflict(`The user ${user.name}, or the mail address, exists`)
        : error
    })
    if (user.kind === 'service') return row
    await claimEntity(tx, row.name, 'personal')
    await setRole(tx, row.name, row, 'admin', 'admin')
    return row
  }

  async function addTeam(tx: ControlTx, name: string, admin: UserRow): Promise<void> {
    await claimEntity(tx, name, 'team')
    await setRole(tx, name, admin, 'admin', 'operator')
  }

  async function rolesOf(userId: string, tx: ControlTx = control): Promise<Map<string, Role>> {
    const rows = await queries.rolesOf(tx, userId)
    return new Map(rows.map(({ entity, role }) => [entity, role]))
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
    async checkEntity(name) {
      if ((await queries.findEntity(control, name)) === undefined) throw notFound('team', name)
    },
    addTeam,
    setRole,
    removeRole,
    rolesOf,
    ensureOperator,
  }
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
  if (user.default_entity === entity) await queries.updateUser(tx, user.id, { default_entity: user.name })
  return wasMember
}
