import { describe, expect, it } from 'vitest'
import { createHostCheck } from './known-hosts.ts'

const check = createHostCheck(['heddle.example', '10.0.0.5'])

describe('the names of a request', () => {
  it.each([
    [undefined, undefined],
    ['127.0.0.1:6060', undefined],
    ['localhost', 'http://localhost:5173'],
    ['[::1]:6060', 'http://127.0.0.1:6060'],
    ['127.1.2.3', undefined],
    ['HEDDLE.example:443', 'https://heddle.example'],
    ['10.0.0.5', undefined],
  ])('go on: %s from %s', (host, origin) => {
    expect(check(host, origin)).toBeUndefined()
  })

  it.each([
    ['evil.example', undefined],
    ['evil.example:6060', 'http://evil.example:6060'],
    ['localhost.evil.example', undefined],
    ['127.0.0.1.evil.example', undefined],
    ['evil@127.0.0.1.example', undefined],
    ['not a host', undefined],
    ['', undefined],
  ])('are refused with 421: %j', (host, origin) => {
    expect(check(host, origin)).toMatchObject({ status: 421 })
  })

  it.each(['http://evil.example', 'null', '', 'http://localhost.evil.example'])(
    'are refused with 403 from %j',
    (origin) => {
      expect(check('127.0.0.1', origin)).toMatchObject({ status: 403 })
    },
  )
})
