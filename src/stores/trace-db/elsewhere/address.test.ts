import { expect, it } from 'vitest'
import { readAddress } from './address.ts'

it('reads user, password and database of an address', () => {
  expect(readAddress('https://ada:p%40ss@db.example:8443/traces')).toEqual({
    url: 'https://db.example:8443',
    username: 'ada',
    password: 'p@ss',
    database: 'traces',
  })
  expect(readAddress('http://localhost:8123')).toEqual({
    url: 'http://localhost:8123',
    username: 'default',
    password: '',
    database: 'heddle',
  })
})

it.each([
  'db.example',
  'tcp://db.example:9000',
  'https://a:b@c/x?y=1',
  'https://a:b@c/x-y',
  'https://a:b@c/x/y',
])('refuses %s', (text) => expect(() => readAddress(text)).toThrow())
