import { PAGE_HEADER } from '../../src/http/auth.ts'

/** Signs in by a link, which uses it up, and makes a key. @throws Error with the server's message. */
export async function signIn(link: string, key: object): Promise<unknown> {
  const { origin, hash } = new URL(link)
  const session = await post(`${origin}/v1/accounts/session`, { token: hash.slice(1) }, {})
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  const made = await post(`${origin}/v1/accounts/keys`, key, { cookie, [PAGE_HEADER]: 'command line' })
  return made.json()
}

async function post(url: string, body: object, headers: Record<string, string>): Promise<Response> {
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (reply.ok) return reply
  throw new Error(`${reply.status}: ${await reply.text()}`)
}
