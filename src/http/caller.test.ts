import { describe, expect, it } from 'vitest'
import { ALL_RIGHTS } from '../access.ts'
import { originOf } from './caller.ts'

function originWith(headers: Record<string, string>): string {
  return originOf({
    caller: { user: 'ada', defaultEntity: 'ada', keyId: '', rights: ALL_RIGHTS },
    signal: new AbortController().signal,
    requestId: '1',
    header: (name) => headers[name],
  })
}

describe('originOf', () => {
  it('is the name that the client asked for', () => {
    expect(originWith({ host: '127.0.0.1:6060' })).toBe('http://127.0.0.1:6060')
  })

  it.each(['https', 'https, http', 'https,http,http', 'HTTPS'])(
    'is that by which the first proxy was reached: %s',
    (scheme) => {
      const headers = {
        host: '10.0.0.1',
        'x-forwarded-host': 'heddle.example, inner',
        'x-forwarded-proto': scheme,
      }
      expect(originWith(headers)).toBe('https://heddle.example')
    },
  )

  it('is not encrypted where only a later proxy was reached so', () => {
    expect(originWith({ host: 'heddle.example', 'x-forwarded-proto': 'http, https' })).toBe(
      'http://heddle.example',
    )
  })
})
