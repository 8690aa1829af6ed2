import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ControlTx } from '../../stores/control-db/port.ts'
import { openTestControlDb } from '../../stores/control-db/test-database.ts'
import { createIdentity } from '../identity/service.ts'
import { findEntity, type UserRow, updateUser } from '../user-queries.ts'
import { createAccountsRemoval } from './removal.ts'
import * as queries from './removal-queries.ts'

let control: Awaited<ReturnType<typeof openTestControlDb>>

beforeAll(async () => {
  control = await openTestControlDb()
})
afterAll(() => control[Symbol.asyncDispose]())

const inTransaction = <Result>(work: (tx: ControlTx) => Promise<Result>) =>
  control.transaction().execute(work)

function open() {
  const identity = createIdentity({ control })
  const keys = { forget: () => undefined }
  const limits = { load: async () => undefined }
  const removal = createAccountsRemoval({ control, identity, keys, limits })
  const add = (name: string, kind: UserRow['kind'] = 'person') =>
    inTransaction((tx) => identity.addUser(tx, { name, kind }))
  const erase = (entity: string) => inTransaction(async (tx) => removal.freeNames?.(tx, { entity }))
  return { identity, add, erase }
}

it('a person whose own entity was erased stays its admin, and other members do not', async () => {
  const { identity, add, erase } = open()
  const [ada, bob] = [await add('ada'), await add('bob')]
  await inTransaction((tx) => identity.setRole(tx, 'ada', bob, 'member', 'admin'))
  await erase('ada')
  expect(await identity.rolesOf(ada.id)).toEqual(new Map([['ada', 'admin']]))
  expect(await identity.personalEntityOf('ada')).toBe('ada')
  expect(await identity.rolesOf(bob.id)).toEqual(new Map([['bob', 'admin']]))
})

it('a person who has lost the own entity has it again once an operator adds a member to it', async () => {
  const { identity, add } = open()
  const cid = await add('cid')
  await inTransaction((tx) => queries.deleteEntity(tx, 'cid'))
  expect(await findEntity(control, 'cid')).toBeUndefined()
  await inTransaction((tx) => identity.ensureEntity(tx, 'cid'))
  expect(await identity.rolesOf(cid.id)).toEqual(new Map([['cid', 'admin']]))
  expect(await identity.personalEntityOf('cid')).toBe('cid')
})

it('requests of members of an erased team go to their own entity, and of service accounts to another team', async () => {
  const { identity, add, erase } = open()
  const [dan, robot] = [await add('dan'), await add('robot', 'service')]
  for (const team of ['crew', 'night']) await inTransaction((tx) => identity.addTeam(tx, team, dan))
  for (const team of ['crew', 'night'])
    await inTransaction((tx) => identity.setRole(tx, team, robot, 'member', 'admin'))
  await inTransaction((tx) => updateUser(tx, robot.id, { default_entity: 'crew' }))
  const defaults = async () => [
    (await identity.userNamed('dan')).default_entity,
    (await identity.userNamed('robot')).default_entity,
  ]
  expect(await defaults()).toEqual(['crew', 'crew'])
  await erase('crew')
  expect(await defaults()).toEqual(['dan', 'night'])
})
