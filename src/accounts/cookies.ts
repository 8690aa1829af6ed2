import { type CallContext, originOf } from '../http/caller.ts'

/** The value of a cookie of the request. */
export function cookieIn(context: CallContext, name: string): string | undefined {
  return new RegExp(`(?:^|;\\s*)${name}=([^;]+)`).exec(context.header('cookie') ?? '')?.[1]
}

export interface Cookie {
  name: string
  value: string
  /** 0 removes it. */
  seconds: number
  /** It is sent with requests below this path. */
  path: string
}

/**
 * A `Set-Cookie` header. Scripts cannot read the cookie, requests from pages of other sites do not carry it, and it
 * stays on encrypted connections where there are.
 */
export function cookieText({ name, value, seconds, path }: Cookie, context: CallContext): string {
  const secure = originOf(context).startsWith('https:') ? '; Secure' : ''
  return `${name}=${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`
}
