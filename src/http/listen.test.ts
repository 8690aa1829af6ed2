import { Hono } from 'hono'
import { Agent, fetch } from 'undici'
import { describe, expect, it } from 'vitest'
import { listen } from './listen.ts'

/** Of `localhost`, signed by itself, for a hundred years; it protects nothing. */
const CERT = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIURRTW2EZHBMDdOs9H1ntc+JtVFV0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNTAzMjEzMloYDzIxMjYxMTAx
MDMyMTMyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATLNU6mz/MeXD/1DjTqnVpUW+2egxAzEnseEaqglQ34+P86DpGsPLNp
KDfOH870x9otstfym1YcUUxrMptsdJCTo28wbTAdBgNVHQ4EFgQUtLtXrH7jC8RT
VAtVmonUSlOF3cIwHwYDVR0jBBgwFoAUtLtXrH7jC8RTVAtVmonUSlOF3cIwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgZgtUR1ckZZ75O/ePqqNCyY37KctJFkIhYpEadGDD59UCIQD5
61QEl4u+XjZQl4DQLjgnmvYdDZdSvdRdDDN1T1KwEA==
-----END CERTIFICATE-----`
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgusXacPTtX5BbTVU7
epXv0KbRSm17qUwZ2I2Hx5JJXPOhRANCAATLNU6mz/MeXD/1DjTqnVpUW+2egxAz
EnseEaqglQ34+P86DpGsPLNpKDfOH870x9otstfym1YcUUxrMptsdJCT
-----END PRIVATE KEY-----`

describe('listen', () => {
  it('serves encrypted where it has a certificate, and tells the app so', async () => {
    const app = new Hono().get('/', (c) => c.text(new URL(c.req.url).protocol))
    await using server = await listen(app, { host: '127.0.0.1', port: 0, tls: { cert: CERT, key: KEY } })
    expect(server.url).toMatch(/^https:/)
    const dispatcher = new Agent({ connect: { ca: CERT, servername: 'localhost' } })
    expect(await (await fetch(server.url, { dispatcher })).text()).toBe('https:')
    await dispatcher.close()
    await expect(fetch(server.url.replace('https:', 'http:'))).rejects.toThrow()
  })
})
