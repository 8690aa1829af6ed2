import { expect, it } from 'vitest'
import { SILENT } from '../../test-log.ts'
import { createPostgresClock } from './postgres-clock.ts'

it('a clock is apart by more than 5 s beyond the time of the answer', () => {
  const clock = createPostgresClock({ log: SILENT })
  clock.note(100_000, { sentAt: 104_000, heardAt: 104_100 })
  expect(clock.warning()).toBeUndefined()
  clock.note(100_000, { sentAt: 110_000, heardAt: 110_200 })
  expect(clock.warning()).toMatch('10 s ahead of')
  clock.note(100_000, { sentAt: 92_000, heardAt: 92_000 })
  expect(clock.warning()).toMatch('8 s behind')
  clock.note(100_000, { sentAt: 100_000, heardAt: 112_000 })
  expect(clock.warning()).toBeUndefined()
})
