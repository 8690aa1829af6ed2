import type { Selectable } from 'kysely'
import type { MembershipsTable, UsersTable } from '../stores/control-db/account-tables.ts'
import type { ControlDb, ControlTx } from '../stores/control-db/port.ts'

export type UserRow = Selectable<UsersTable>
export type MembershipRow = Selectable<MembershipsTable>

export function findUser(control: ControlTx, id: string): Promise<UserRow | undefined> {
  return control.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findUserByName(control: ControlTx, name: string): Promise<UserRow | undefined> {
  return control.selectFrom('users').selectAll().where('name', '=', name).executeTakeFirst()
}

export function findUserByEmail(control: ControlTx, email: string): Promise<UserRow | undefined> {
  return control.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()
}

/** Users by name, one page. */
export function listUsers(control: ControlDb, page: { after: string; limit: number }): Promise<UserRow[]> {
  return control
    .selectFrom('users')
    .selectAll()
    .where('name', '>', page.after)
    .orderBy('name')
    .limit(page.limit)
    .execute()
}

/** Operators who are not disabled, the one of longest standing first; two are enough to know that there are several. */
export function listOperators(control: ControlTx): Promise<UserRow[]> {
  return control
    .selectFrom('users')
    .selectAll()
    .where('is_operator', '=', 1)
    .where('disabled_at', 'is', null)
    .orderBy('id')
    .limit(2)
    .execute()
}

/** Service accounts whose requests that name no entity go to this one: where they were made, unless they left it. */
export async function countServiceAccounts(control: ControlTx, entity: string): Promise<number> {
  const { count } = await control
    .selectFrom('users')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('kind', '=', 'service')
    .where('default_entity', '=', entity)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** @throws UniqueViolation where the name or the mail address is taken. */
export async function insertUser(tx: ControlTx, row: UserRow): Promise<void> {
  await tx.insertInto('users').values(row).execute()
}

export async function updateUser(tx: ControlTx, id: string, changes: Partial<UserRow>): Promise<void> {
  await tx.updateTable('users').set(changes).where('id', '=', id).execute()
}

/** Adds an entity; one that exists stays as it is. False where it existed. */
export async function insertEntity(
  tx: ControlTx,
  row: { name: string; kind: 'team' | 'personal'; created_at: string },
): Promise<boolean> {
  const added = await tx
    .insertInto('entities')
    .values(row)
    .onConflict((clash) => clash.doNothing())
    .returning('name')
    .executeTakeFirst()
  return added !== undefined
}

export async function findEntity(control: ControlTx, name: string) {
  return control.selectFrom('entities').selectAll().where('name', '=', name).executeTakeFirst()
}

/** Entities that have projects and no row: those that were used before accounts existed. */
export async function entitiesOfProjects(control: ControlTx): Promise<string[]> {
  const rows = await control.selectFrom('projects').select('entity').distinct().execute()
  return rows.map(({ entity }) => entity)
}

/** Entities by name, one page. */
export function listEntities(control: ControlDb, page: { after: string; limit: number }) {
  return control
    .selectFrom('entities')
    .selectAll()
    .where('name', '>', page.after)
    .orderBy('name')
    .limit(page.limit)
    .execute()
}

export function rolesOf(control: ControlTx, userId: string): Promise<MembershipRow[]> {
  return control.selectFrom('memberships').selectAll().where('user_id', '=', userId).execute()
}

/** The members of an entity with their names, by name. */
export function membersOf(control: ControlTx, entity: string) {
  return control
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .select(['users.id', 'users.name', 'users.email', 'users.kind', 'users.disabled_at', 'memberships.role'])
    .where('entity', '=', entity)
    .orderBy('users.name')
    .execute()
}

/** Adds a member or changes the role of one. */
export async function setRole(tx: ControlTx, row: MembershipRow): Promise<void> {
  await tx
    .insertInto('memberships')
    .values(row)
    .onConflict((clash) =>
      clash.columns(['entity', 'user_id']).doUpdateSet({ role: row.role, from_groups: row.from_groups }),
    )
    .execute()
}

/** Whether there was such a member. */
export async function removeMember(tx: ControlTx, entity: string, userId: string): Promise<boolean> {
  const gone = await tx
    .deleteFrom('memberships')
    .where('entity', '=', entity)
    .where('user_id', '=', userId)
    .returning('user_id')
    .executeTakeFirst()
  return gone !== undefined
}
