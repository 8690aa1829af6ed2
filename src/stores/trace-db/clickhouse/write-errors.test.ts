import { ClickHouseError } from '@clickhouse/client'
import { expect, it } from 'vitest'
import { unavailable } from '../../../errors.ts'
import { writeError } from './write-errors.ts'

const ofServer = (code: string) => new ClickHouseError({ message: 'why', code, type: 'WHY' })

it.each([
  ['a full disk', '243', 'The disk of the trace database fails, so nothing may have been stored'],
  ['too many parts', '252', 'The trace database has too much to do'],
  ['a server that ends', '236', 'The trace database ended, so what was sent may not be stored'],
  [
    'too few replicas',
    '285',
    'Too few replicas of the trace database answer, so what was sent may not be stored',
  ],
  ['a password that has changed', '516', 'The trace database refuses its user'],
])('is 503 for %s', (_, code, message) => {
  const cause = ofServer(code)
  expect(writeError(cause)).toMatchObject({ status: 503, message, cause, retryAfterSeconds: 5 })
})

it('is 503 for a connection that broke, and what it is for rows that are refused and for what is an error of clients', () => {
  expect(writeError(new Error('socket hang up'))).toMatchObject({ status: 503 })
  const refused = ofServer('27')
  expect(writeError(refused)).toBe(refused)
  const known = unavailable('busy')
  expect(writeError(known)).toBe(known)
})
