import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { NO_PEERS } from '../../stores/control-db/peers.ts'
import { SILENT } from '../../test-log.ts'
import { followBudgets } from './follow-budgets.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it.each([
  [true, 2],
  [false, 1],
])(
  'where other servers are possible (%s), budgets are also read without a message',
  async (arePossible, reads) => {
    const accountBook = { load: vi.fn(async () => undefined), countedFor: () => [] }
    const peers = { ...NO_PEERS, arePossible }
    using _following = await followBudgets({ peers, accountBook, log: SILENT })
    await vi.advanceTimersByTimeAsync(70_000)
    expect(accountBook.load).toHaveBeenCalledTimes(reads)
  },
)
