import type { MeRes, SignInOptionsRes, SignInRes } from '../../src/accounts/sessions/wire.ts'

/**
 * From sign-in to sign-out, who is signed in: the cookie of the session, which scripts cannot read, goes with each
 * request.
 */
const SIGNED_IN = 'heddle.signed-in'

/** What earlier releases stored there in place of the user's name. */
const UNNAMED = '1'

/** The key of a browser without a session: a server in local mode accepts any. */
const LOCAL_KEY = 'local'

/** A page of another site cannot make a browser send it. */
const FROM_PAGE = { 'x-heddle-page': '1' }

const SESSION_PATH = '/v1/accounts/session'

/** Whose a page is: a user by name, or null while the server has one user or has not said who this is. */
export type Owner = string | null

const listeners = new Set<() => void>()
let access: Access = 'open'

/** Other tabs may sign in as somebody else, which does not make this page theirs. */
let owner: Owner | undefined

/** `refused`: the server asks who this is, and the page stays as it is; `left`: the person signed out of it. */
export type Access = 'open' | 'refused' | 'left'

/** What tells the server who sends a request: it refuses one of a page whose owner is not the user of the session. */
export function credentials(): Record<string, string> {
  const user = ownerOfPage()
  return user === null
    ? { ...FROM_PAGE, authorization: `Bearer ${LOCAL_KEY}` }
    : { ...FROM_PAGE, 'x-heddle-user': user }
}

/**
 * What stands for a key in lines to copy. Where any key does, one that works: W&B's clients require as many characters.
 */
export function exampleKey(): string {
  return isSignedIn() ? 'YOUR_KEY' : `local-${'0'.repeat(40)}`
}

export function isSignedIn(): boolean {
  return ownerOfPage() !== null
}

/** Whose this page is: from its first request on whoever was signed in then. */
export function ownerOfPage(): Owner {
  if (owner === undefined) owner = localStorage.getItem(SIGNED_IN)
  return owner
}

/** Whether this page is known to be of another user than this one. */
export function isOfAnother(user: Owner): boolean {
  const known = ownerOfPage()
  return known !== null && known !== UNNAMED && known !== user
}

/** Signs this browser in, by the token of a link or a key, and says as whom. @throws Error with the server's reason. */
export async function signIn(shown: { token: string } | { key: string }): Promise<string> {
  const headers = { 'content-type': 'application/json', ...FROM_PAGE }
  const response = await reach(SESSION_PATH, { method: 'POST', headers, body: JSON.stringify(shown) })
  await requireSuccess(response)
  const { user } = (await response.json()) as SignInRes
  localStorage.setItem(SIGNED_IN, user)
  return user
}

/** Who is signed in to this browser, whosever this page is; undefined for nobody, and while the server cannot tell. */
export async function userOfSession(): Promise<string | undefined> {
  const response = await fetch('/v1/accounts/me', { headers: FROM_PAGE }).catch(() => undefined)
  return response?.ok ? ((await response.json()) as MeRes).user : undefined
}

/**
 * Ends the session of this browser, and shows the sign-in screen; the session of another person, who has signed in in
 * another tab since, goes on.
 * @throws Error with the server's reason, or when it cannot be reached.
 */
export async function signOut(): Promise<void> {
  if (isOfAnother(localStorage.getItem(SIGNED_IN))) return depart()
  await requireSuccess(await reach(SESSION_PATH, { method: 'DELETE', headers: FROM_PAGE }))
  localStorage.removeItem(SIGNED_IN)
  depart()
}

/** How people sign in; undefined while the server cannot tell. */
export async function signInOptions(): Promise<SignInOptionsRes | undefined> {
  const response = await fetch('/v1/accounts/sign-in-options', { headers: FROM_PAGE }).catch(() => undefined)
  return response?.ok ? ((await response.json()) as SignInOptionsRes) : undefined
}

/**
 * As whom this browser may go on as it is: the server has one user, or a sign-in elsewhere, such as at a provider, has
 * given it a session; undefined where it may not.
 */
export async function resume({ auth }: SignInOptionsRes): Promise<Owner | undefined> {
  if (auth === 'local') {
    localStorage.removeItem(SIGNED_IN)
    return null
  }
  const user = await userOfSession()
  if (user !== undefined) localStorage.setItem(SIGNED_IN, user)
  return user
}

/** The server refused a request: the sign-in screen is shown over the page. */
export function refuse(): void {
  if (access === 'open') setAccess('refused')
}

/** The page is the person's no more: only the sign-in screen is shown. */
export function depart(): void {
  setAccess('left')
}

/** The server accepts this browser again; what the page sends from now on is sent as its owner. */
export function accept(next: Owner): void {
  owner = next
  setAccess('open')
}

/** For `useSyncExternalStore`. */
export const accessStore = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  get: (): Access => access,
}

function setAccess(value: Access): void {
  access = value
  for (const listener of listeners) listener()
}

async function requireSuccess(response: Response): Promise<void> {
  if (response.ok) return
  const { detail } = (await response.json().catch(() => ({}))) as { detail?: unknown }
  throw new Error(typeof detail === 'string' ? detail : `The server answered ${response.status}`)
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  return fetch(path, init).catch(() => {
    throw new Error('The server cannot be reached')
  })
}
