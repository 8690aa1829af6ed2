import { KeyCreateRes } from '../../src/accounts/keys/wire.ts'
import { PAGE_HEADER } from '../../src/http/auth.ts'
import { foreign, jsonOf, replyOf, request } from '../ask.ts'

/** Signs in by a link, which uses it up, and makes a key. @throws Error with the server's message. */
export async function signIn(link: string, key: object): Promise<KeyCreateRes> {
  const { origin, hash } = new URL(link)
  const session = await request({ url: origin }, 'POST', '/v1/accounts/session', {
    headers: {},
    body: { token: hash.slice(1) },
  })
  const cookie = session.headers.get('set-cookie')?.split(';')[0]
  if (cookie === undefined) throw foreign(origin)
  const made = await request({ url: origin }, 'POST', '/v1/accounts/keys', {
    headers: { cookie, [PAGE_HEADER]: 'command line' },
    body: key,
  })
  return replyOf(origin, KeyCreateRes, jsonOf(origin, await made.text()))
}
