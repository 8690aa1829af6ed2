import type { ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import type { Audit, Audited } from '../audit/service.ts'
import { freeName } from '../identity/names.ts'
import { identityText } from '../identity/provider-identity.ts'
import type { Identity } from '../identity/service.ts'
import { findUser, findUserByEmail, type UserRow } from '../user-queries.ts'
import type { Person } from './person.ts'
import * as queries from './queries.ts'
import { SignInError } from './sign-in-error.ts'

export interface SignInUserDeps {
  identity: Identity
  audit: Audit
  signUp: boolean
  /** Teams that groups grant roles in, which may have no row yet. */
  reservedNames: ReadonlySet<string>
}

/**
 * The user who a person is: the one whom the person has signed in as before, else the one with the person's verified
 * mail address, else a new one.
 * @throws SignInError where there is none, or a disabled one
 */
export async function userOf(tx: ControlTx, person: Person, deps: SignInUserDeps): Promise<UserRow> {
  const user =
    (await signedInBefore(tx, person)) ??
    (await withMailOf(tx, person, deps)) ??
    (await signedUp(tx, person, deps))
  if (user.disabled_at !== null) throw new SignInError('disabled')
  return user
}

async function signedInBefore(tx: ControlTx, person: Person): Promise<UserRow | undefined> {
  const id = await queries.findIdentity(tx, person)
  return id === undefined ? undefined : findUser(tx, id)
}

/** Another person who once had the same address is not the same user. */
async function withMailOf(
  tx: ControlTx,
  person: Person,
  { audit }: SignInUserDeps,
): Promise<UserRow | undefined> {
  const user = person.email === undefined ? undefined : await findUserByEmail(tx, person.email)
  if (user === undefined) return undefined
  if (await queries.hasIdentity(tx, user.id, person.issuer)) throw new SignInError('mail_taken')
  await link(tx, user, person)
  await audit.record(actorOf(user), event('user.link', user, person), tx)
  return user
}

async function signedUp(
  tx: ControlTx,
  person: Person,
  { identity, audit, signUp, reservedNames }: SignInUserDeps,
): Promise<UserRow> {
  if (!signUp) throw new SignInError('no_account')
  const name = await freeName(tx, person.wantedName, reservedNames)
  const user = await identity.addUser(tx, { name, email: person.email, kind: 'person' })
  await link(tx, user, person)
  await audit.record(actorOf(user), event('user.create', user, person), tx)
  return user
}

async function link(tx: ControlTx, user: UserRow, { issuer, subject }: Person): Promise<void> {
  await queries.insertIdentity(tx, { issuer, subject, user_id: user.id, created_at: nowIso() })
}

function event(action: 'user.create' | 'user.link', user: UserRow, person: Person): Audited {
  const details = { identity: identityText(person), email: person.email }
  return { action, entity: null, subject: user.name, details }
}

/** Who did it, in the audit record: the user, by signing in. */
export function actorOf(user: Pick<UserRow, 'name'>): { user: string; keyId: string } {
  return { user: user.name, keyId: 'single_sign_on' }
}
