import type { Peers } from '../../stores/control-db/peers.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { SecretKey } from '../../stores/secret-key.ts'
import type { Identity } from '../identity/service.ts'
import type { UserRow } from '../user-queries.ts'
import * as queries from './queries.ts'

/** The sign-in link of the first operator, which the server itself prints. */
export interface FirstOperator {
  /** As `firstSignIn` of {@link Sessions}. */
  signInPath(): Promise<string | undefined>
  /** As `areInUse` of {@link Sessions}. */
  hasSignedIn(): Promise<boolean>
  /** Notes, in the transaction that begins a session, that an operator is in under the present secret key. */
  noteSignIn(tx: ControlTx, user: UserRow): Promise<void>
}

export interface FirstOperatorDeps {
  control: ControlDb
  peers: Pick<Peers, 'arePossible'>
  secretKey: SecretKey
  identity: Pick<Identity, 'ensureOperator'>
  /** @param others whether links that the user has already go on to be valid */
  makeLink(user: UserRow, options: { others: 'end' | 'stay' }): Promise<string>
}

export function createFirstOperator(deps: FirstOperatorDeps): FirstOperator {
  const { control, peers, identity, makeLink } = deps
  const keyCheck = deps.secretKey.hash('key check', '')

  async function signInPath(): Promise<string | undefined> {
    const operator = await identity.ensureOperator()
    const noted = (await queries.findKeyCheck(control)) ?? keyCheck
    if (noted !== keyCheck || !(await queries.hasSignedIn(control, operator.id)))
      // Each of several servers prints one, and the first that is used ends the others.
      return makeLink(operator, { others: peers.arePossible ? 'stay' : 'end' })
    // Releases that noted nothing may have let the operator in.
    await queries.noteKeyCheck(control, keyCheck)
    return undefined
  }

  async function noteSignIn(tx: ControlTx, user: UserRow): Promise<void> {
    // Other users may sign in through an identity provider under any secret key, but cannot create a link for an
    // operator.
    if (user.is_operator === 1) await queries.noteKeyCheck(tx, keyCheck)
  }

  return {
    signInPath,
    hasSignedIn: async () => (await queries.findKeyCheck(control)) !== undefined,
    noteSignIn,
  }
}
