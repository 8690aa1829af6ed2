import type { SignInOptionsRes } from '../../src/accounts/sessions/wire.ts'

/** Set while this browser has a session: its cookie, which scripts cannot read, goes with each request. */
const SIGNED_IN = 'heddle.signed-in'

/** The key of a browser without a session: a server in local mode accepts any. */
const LOCAL_KEY = 'local'

/** A page of another site cannot make a browser send it. */
const PAGE_HEADER = 'x-heddle-page'

const listeners = new Set<() => void>()
let isRefused = false

/** What tells the server who sends a request. */
export function credentials(): Record<string, string> {
  const page = { [PAGE_HEADER]: '1' }
  return isSignedIn() ? page : { ...page, authorization: `Bearer ${LOCAL_KEY}` }
}

export function isSignedIn(): boolean {
  return localStorage.getItem(SIGNED_IN) !== null
}

/** Signs this browser in, by the token of a link or a key. @throws Error with the server's reason. */
export async function signIn(shown: { token: string } | { key: string }): Promise<void> {
  const headers = { 'content-type': 'application/json', [PAGE_HEADER]: '1' }
  const init = { method: 'POST', headers, body: JSON.stringify(shown) }
  const response = await fetch('/v1/accounts/session', init)
  if (!response.ok) {
    const { detail } = (await response.json().catch(() => ({}))) as { detail?: unknown }
    throw new Error(typeof detail === 'string' ? detail : `The server answered ${response.status}`)
  }
  localStorage.setItem(SIGNED_IN, '1')
  setRefused(false)
}

/** Whether people can sign in through a provider. */
export async function hasSingleSignOn(): Promise<boolean> {
  const response = await fetch('/v1/accounts/sign-in-options')
  if (!response.ok) return false
  const options = (await response.json()) as SignInOptionsRes
  return options.single_sign_on
}

/** Sends this browser to the provider, from where it comes back to a path of this server. */
export function startSingleSignOn(returnTo: string): void {
  // It has a session when it comes back; where it has none, the server refuses its first request.
  localStorage.setItem(SIGNED_IN, '1')
  location.assign(`/v1/accounts/oidc/start?return_to=${encodeURIComponent(returnTo)}`)
}

/** Ends the session of this browser, and shows the sign-in screen. */
export async function signOut(): Promise<void> {
  await fetch('/v1/accounts/session', { method: 'DELETE', headers: credentials() })
  refuse()
}

/** The server refused the request: the sign-in screen is shown. */
export function refuse(): void {
  localStorage.removeItem(SIGNED_IN)
  setRefused(true)
}

/** For `useSyncExternalStore`: whether the server refuses this browser. */
export const refusal = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  get: (): boolean => isRefused,
}

function setRefused(value: boolean): void {
  isRefused = value
  for (const listener of listeners) listener()
}
