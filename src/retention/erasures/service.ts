import type { Audit } from '../../accounts/audit/service.ts'
import { isUnlimited } from '../../accounts/identity/rights.ts'
import type { Identity } from '../../accounts/identity/service.ts'
import type { Projects } from '../../accounts/projects.ts'
import type { AuthMode } from '../../accounts/sessions/me.ts'
import type { Users } from '../../accounts/users/service.ts'
import { conflict, notFound } from '../../errors.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { reloading } from '../../reloading.ts'
import type { Peers } from '../../stores/control-db/peers.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { toPage } from '../../wire/page-wire.ts'
import { placesOf } from './eraser.ts'
import { defineErasureJobs, type ErasureJobsDeps, type ErasurePayload } from './erasure-jobs.ts'
import type { ErasureRow } from './queries.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** Erasures on request, and their receipts. Each is a job. */
export interface Erasures {
  /** Closes a project and has everything in it erased. */
  eraseProject(req: wire.ProjectErasePath, context: CallContext): Promise<wire.Erasure>
  /**
   * The same for all projects of an entity, with its members and service accounts.
   * @throws 404 for one without either
   */
  eraseEntity(req: wire.EntityErasePath, context: CallContext): Promise<wire.Erasure>
  /**
   * Closes an account and has it erased, with what the user wrote where that is asked for.
   * @throws 404, and 409 for the only operator, the only admin of a team, and on a server without accounts.
   */
  eraseUser(req: wire.UserErasePath & wire.UserEraseQuery, context: CallContext): Promise<wire.Erasure>
  /**
   * Receipts, newest first: all for operators, else those that the caller asked for. A key with limits sees only those
   * of them that are about what it may read.
   */
  list(req: wire.ErasuresQuery, context: CallContext): Promise<wire.ErasuresRes>
  /** @throws 404 for one that is unknown, or that the caller may not see. */
  read(req: wire.ErasurePath, context: CallContext): Promise<wire.Erasure>
  /** Closes what is being erased, by this server before a restart or by another one; disposal ends that. */
  start(): Promise<AsyncDisposable>
}

export interface ErasuresDeps extends ErasureJobsDeps {
  auth: AuthMode
  peers: Peers
  log: Log
  projects: Projects
  audit: Audit
  identity: Pick<Identity, 'checkEntity' | 'personalEntityOf'>
  users: Pick<Users, 'close'>
  keys: { forget(): void }
}

export function createErasures(deps: ErasuresDeps): Erasures {
  const { auth, control, peers, log, projects, audit, identity, users, keys } = deps
  const jobs = defineErasureJobs(deps)

  /** Records an erasure, closes what it is about, and starts it. */
  async function begin(
    { caller }: CallContext,
    wanted: Wanted,
    prepare: (tx: ControlTx) => Promise<string[]>,
  ): Promise<wire.Erasure> {
    const { kind, entity, subject, withData, payload } = wanted
    const row = newRow(caller, wanted)
    const projectIds = await control.transaction().execute(async (tx) => {
      const ids = await prepare(tx)
      await queries.insertErasure(tx, row, ids)
      await projects.delete(tx, ids)
      const details = { erasure: row.id, with_data: withData }
      await audit.record(caller, { action: `${kind}.erase`, entity, subject, details }, tx)
      await jobs.addIn(tx, [{ id: row.id, payload }])
      return ids
    })
    const closed = { projectIds, ...(payload.entity !== null && { entity: payload.entity }) }
    projects.closed.close(row.id, placesOf(closed))
    keys.forget()
    jobs.wake()
    return toWire(row)
  }

  async function eraseProject({ entity, project }: wire.ProjectErasePath, context: CallContext) {
    const subject = `${entity}/${project}`
    if (!(await projects.exists({ entity, name: project }))) throw notFound('project', subject)
    const payload = { entity: null, user: null }
    return begin(context, { kind: 'project', entity, subject, withData: true, payload }, async () => [
      subject,
    ])
  }

  async function eraseEntity({ entity }: wire.EntityErasePath, context: CallContext) {
    const payload = { entity, user: null }
    // A server without accounts knows entities by their projects alone.
    if ((await projects.list({ entity, after: '', limit: 1 })).length === 0)
      await identity.checkEntity(entity)
    return begin(context, { kind: 'entity', entity, subject: entity, withData: true, payload }, (tx) =>
      projects.idsOf(tx, entity),
    )
  }

  async function eraseUser(
    { user, data }: wire.UserErasePath & wire.UserEraseQuery,
    context: CallContext,
  ): Promise<wire.Erasure> {
    if (auth === 'local') throw conflict('HEDDLE_AUTH=local accepts any key, and has no users to erase')
    const withData = data === 'true'
    const own = await identity.personalEntityOf(user)
    const payload = { entity: withData && own !== undefined ? own : null, user }
    return begin(context, { kind: 'user', entity: null, subject: user, withData, payload }, async (tx) => {
      await users.close(tx, user)
      return payload.entity === null ? [] : projects.idsOf(tx, payload.entity)
    })
  }

  async function list({ after, limit }: wire.ErasuresQuery, { caller }: CallContext) {
    const rows = await queries.listErasures(control, seenBy(caller), { beforeId: after, limit: limit + 1 })
    return toPage(rows.map(toWire), limit)
  }

  async function read({ id }: wire.ErasurePath, { caller }: CallContext) {
    const [row] = await queries.listErasures(control, seenBy(caller), { id, limit: 1 })
    if (row === undefined) throw notFound('erasure', id)
    return toWire(row)
  }

  /** Closes what is being erased, and opens what is not any more. */
  async function follow(): Promise<void> {
    // Taken before the read: an erasure that this server begins meanwhile is not among them, and so is not reopened.
    const known = new Set(projects.closed.erasures())
    const open = (await queries.openErasures(control)).map(({ id }) => id)
    const payloads = await jobs.payloadsOf(open.filter((id) => !known.has(id)))
    for (const [id, { entity }] of payloads) {
      const projectIds = await queries.projectsOf(control, id)
      projects.closed.close(id, placesOf({ projectIds, ...(entity !== null && { entity }) }))
    }
    for (const id of known.difference(new Set(open))) projects.closed.reopen(id)
  }

  async function start(): Promise<AsyncDisposable> {
    await using starting = new AsyncDisposableStack()
    const reload = starting.use(reloading('erasures', follow, { log }))
    peers.onChange(['erasures'], projects.forget)
    peers.onChange(['erasures'], reload.ask)
    await follow()
    return starting.move()
  }

  return { eraseProject, eraseEntity, eraseUser, list, read, start }
}

/** Which receipts a caller may see. */
function seenBy(caller: Caller): queries.ErasureFilter {
  const { rights, user } = caller
  if (rights.isOperator) return {}
  if (isUnlimited(caller)) return { requestedBy: user }
  const entities = rights.entities === 'all' ? [] : rights.entities
  const places = entities.map((entity) => ({ entity, project: rights.project }))
  return { requestedBy: user, places: places.filter((place) => rights.allows('read', place)) }
}

interface Wanted extends Pick<ErasureRow, 'kind' | 'entity' | 'subject'> {
  withData: boolean
  payload: ErasurePayload
}

/** The receipt of an erasure that begins. */
function newRow(
  { user, keyId }: Pick<Caller, 'user' | 'keyId'>,
  { kind, entity, subject, withData }: Wanted,
): ErasureRow {
  const id = newId()
  const at = nowIso()
  return {
    id,
    kind,
    entity,
    subject: kind === 'user' ? `deleted-user-${id.slice(-12)}` : subject,
    requested_by: user,
    key_id: keyId,
    with_data: withData ? 1 : 0,
    amounts: null,
    requested_at: at,
    // What a user wrote is in projects that stay open.
    unreadable_at: kind === 'user' && withData ? null : at,
    erased_at: null,
    gone_at: null,
  }
}

function toWire({ with_data, amounts, ...row }: ErasureRow): wire.Erasure {
  return {
    ...row,
    with_data: with_data === 1,
    state: row.gone_at === null ? 'running' : 'done',
    amounts: amounts === null ? [] : (JSON.parse(amounts) as wire.Erasure['amounts']),
  }
}
