import { ClickHouseError } from '@clickhouse/client'
import { describe, expect, it, vi } from 'vitest'
import { createLostWrites } from './lost-writes.ts'
import type { Requests } from './server.ts'

/**
 * A database whose `calls` has a broken part and whose disk has just failed; `refuses` selects statements that fail,
 * with a code and a message.
 */
function brokenDatabase(refuses: (sql: string) => boolean, code = '74', message = 'refused') {
  const answerOf = (sql: string): object[] => {
    if (refuses(sql)) throw new ClickHouseError({ message, code, type: 'TEST' })
    if (sql.includes('system.events')) return [{ value: 1 }]
    if (sql.includes('system.parts')) return [{ table: 'calls', name: 'all_1_1_0' }]
    return sql.startsWith('CHECK') ? [{ is_passed: 0 }] : []
  }
  const requests = {
    rows: async (sql: string) => answerOf(sql),
    run: async (sql: string) => void answerOf(sql),
  } as Requests
  const log = { error: vi.fn(), warn: vi.fn() }
  const lostWrites = createLostWrites({ requests, log })
  lostWrites.stop()
  return { lostWrites, log }
}

async function change({ lostWrites }: ReturnType<typeof brokenDatabase>): Promise<void> {
  await (await lostWrites.watched(async () => {})).kept.catch(() => {})
}

describe('the repair of a table', () => {
  it('is logged and counted when it is done', async () => {
    const database = brokenDatabase(() => false)
    await change(database)
    expect(database.lostWrites.repairs()).toEqual({ done: 1, failed: 0, detached: [] })
    expect(database.log.warn).toHaveBeenCalledOnce()
  })

  it('is logged and counted when it fails, and reports the detached table until it succeeds', async () => {
    let isFailing = true
    const database = brokenDatabase((sql) => isFailing && sql.startsWith('ATTACH'))
    await change(database)
    expect(database.lostWrites.repairs()).toEqual({ done: 0, failed: 1, detached: ['calls'] })
    expect(database.log.error.mock.calls[0]?.[0]).toMatchObject({
      detached: ['calls'],
      err: expect.any(Error),
    })
    await change(database)
    expect(database.lostWrites.repairs()).toMatchObject({ failed: 2, detached: ['calls'] })
    isFailing = false
    await change(database)
    expect(database.lostWrites.repairs()).toEqual({ done: 1, failed: 2, detached: [] })
  })

  it('is done where a server that was started again has opened the table by itself', async () => {
    const database = brokenDatabase((sql) => sql.startsWith('ATTACH'), '57')
    await change(database)
    expect(database.lostWrites.repairs()).toEqual({ done: 1, failed: 0, detached: [] })
  })

  it('waits for queries that still use the table', async () => {
    let tries = 0
    const isUsed = (sql: string): boolean => sql.startsWith('ATTACH') && ++tries < 3
    const database = brokenDatabase(isUsed, '57', 'detached but still used by some query')
    await change(database)
    expect(tries).toBe(3)
    expect(database.lostWrites.repairs()).toEqual({ done: 1, failed: 0, detached: [] })
  })

  it('is logged and counted when the state of the table cannot be queried', async () => {
    const database = brokenDatabase((sql) => sql.includes('system.parts'))
    await change(database)
    expect(database.lostWrites.repairs()).toMatchObject({ failed: 1 })
    expect(database.log.error).toHaveBeenCalledOnce()
  })
})
