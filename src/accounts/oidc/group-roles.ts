import type { Log } from '../../log.ts'
import type { GroupGrant } from '../../settings/single-sign-on.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import type { Audit, Audited } from '../audit/service.ts'
import type { Role } from '../identity/rights.ts'
import type { Identity } from '../identity/service.ts'
import { findEntity, findUser, insertEntity, rolesOf, type UserRow, updateUser } from '../user-queries.ts'
import { actorOf } from './sign-in-user.ts'

const ROLES: readonly Role[] = ['viewer', 'member', 'admin']

/**
 * Gives a user what the groups of the provider grant, and takes back what groups gave and no longer grant. What was
 * given by hand stays as it is. The provider is right even where a team, or the server, is left without an admin:
 * operators name another one, and a server without operators makes one when it starts. A grant for a
 * personal entity is ignored: its user would be the admin of what was meant to be a team.
 */
export async function applyGroups(
  tx: ControlTx,
  user: UserRow,
  granted: readonly GroupGrant[],
  deps: { identity: Identity; audit: Audit; log: Pick<Log, 'warn'> },
): Promise<void> {
  const grants = await withoutPersonal(tx, granted, deps.log)
  await takeBack(tx, user, grants, deps)
  await give(tx, (await findUser(tx, user.id)) ?? user, grants, deps)
  await applyOperator(tx, user, grants, deps.audit)
}

async function withoutPersonal(
  tx: ControlTx,
  grants: readonly GroupGrant[],
  log: Pick<Log, 'warn'>,
): Promise<GroupGrant[]> {
  const valid: GroupGrant[] = []
  for (const grant of grants) {
    const found = 'entity' in grant ? await findEntity(tx, grant.entity) : undefined
    if (found?.kind !== 'personal') valid.push(grant)
    else
      log.warn(
        { entity: found.name },
        'HEDDLE_OIDC_GROUPS grants a role in a personal entity: the grant is ignored',
      )
  }
  return valid
}

async function takeBack(
  tx: ControlTx,
  user: UserRow,
  grants: readonly GroupGrant[],
  { identity, audit }: { identity: Identity; audit: Audit },
): Promise<void> {
  const granted = highestRoles(grants)
  for (const { entity, from_groups } of await rolesOf(tx, user.id)) {
    if (from_groups === 0 || granted.has(entity)) continue
    await identity.removeRole(tx, entity, user)
    const event: Audited = { action: 'member.remove', entity, subject: user.name, details: BY_GROUPS }
    await audit.record(actorOf(user), event, tx)
  }
}

async function give(
  tx: ControlTx,
  user: UserRow,
  grants: readonly GroupGrant[],
  { identity, audit }: { identity: Identity; audit: Audit },
): Promise<void> {
  const held = new Map((await rolesOf(tx, user.id)).map((row) => [row.entity, row]))
  for (const [entity, role] of highestRoles(grants)) {
    const has = held.get(entity)
    if (has !== undefined && (has.from_groups === 0 || has.role === role)) continue
    await insertEntity(tx, { name: entity, kind: 'team', created_at: nowIso() })
    await identity.setRole(tx, entity, user, role, 'groups')
    const event: Audited = {
      action: 'member.set',
      entity,
      subject: user.name,
      details: { role, ...BY_GROUPS },
    }
    await audit.record(actorOf(user), event, tx)
  }
}

async function applyOperator(
  tx: ControlTx,
  user: UserRow,
  grants: readonly GroupGrant[],
  audit: Audit,
): Promise<void> {
  const isGranted = grants.some((grant) => 'operator' in grant)
  const isByHand = user.is_operator === 1 && user.operator_from_groups === 0
  if (isByHand || isGranted === (user.is_operator === 1)) return
  const flag = isGranted ? 1 : 0
  await updateUser(tx, user.id, { is_operator: flag, operator_from_groups: flag })
  const details = { is_operator: isGranted, ...BY_GROUPS }
  await audit.record(actorOf(user), { action: 'user.change', entity: null, subject: user.name, details }, tx)
}

const BY_GROUPS = { by: 'groups' }

function highestRoles(grants: readonly GroupGrant[]): Map<string, Role> {
  const roles = new Map<string, Role>()
  for (const grant of grants) {
    if ('operator' in grant) continue
    const { entity, role } = grant
    const other = roles.get(entity)
    if (other === undefined || ROLES.indexOf(other) < ROLES.indexOf(role)) roles.set(entity, role)
  }
  return roles
}
