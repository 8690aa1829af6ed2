import { expect, it, vi } from 'vitest'
import { SILENT } from '../../test-log.ts'
import { createUsageCounter, type UsageCounterDeps } from './counter.ts'
import type { UsageRow } from './usage-row.ts'

/** A counter over a database that fails while `database.fails` is set. */
function failing() {
  const inserted: { token: string; requests: number[]; stored: boolean }[] = []
  const database = { fails: true }
  const traces: UsageCounterDeps['traces'] = {
    async insertOnce(_table, rows, token) {
      const requests = rows.map((row) => Number(Reflect.get(row, 'requests' satisfies keyof UsageRow)))
      inserted.push({ token, requests, stored: !database.fails })
      if (database.fails) throw new Error('the database is away')
    },
  }
  const send = vi.fn()
  const counter = createUsageCounter({ traces, log: SILENT, peers: { send } })
  const record = (model: string) =>
    counter.record({
      keyId: 'k',
      entity: '',
      project: undefined,
      model,
      baseModel: model,
      usage: undefined,
      events: 1,
      bytes: 4,
    })
  return { counter, record, database, inserted, send }
}

it('usage that may not be stored is inserted again as it was, before what came later', async () => {
  const { counter, record, database, inserted, send } = failing()
  record('a')
  await expect(counter.flush()).rejects.toThrow('the database is away')
  record('a')
  await expect(counter.flush()).rejects.toThrow('the database is away')
  expect(send).not.toHaveBeenCalled()
  database.fails = false
  await counter.flush()
  await counter.flush()
  const [first, , , later] = inserted
  expect(inserted.map(({ token }) => token)).toEqual([first?.token, first?.token, first?.token, later?.token])
  expect(later?.token).not.toBe(first?.token)
  expect(inserted.map(({ requests }) => requests)).toEqual([[1], [1], [1], [1]])
  expect(send).toHaveBeenCalledTimes(2)
})

it('whileStored reads nothing while usage is not stored', async () => {
  const { counter, record, database } = failing()
  const read = vi.fn(async () => {})
  record('a')
  await expect(counter.whileStored(() => {}, read)).rejects.toThrow('the database is away')
  expect(read).not.toHaveBeenCalled()
  database.fails = false
  await counter.whileStored(() => {}, read)
  expect(read).toHaveBeenCalledOnce()
})

it('whileStored begins once what an earlier insert has failed to store is stored', async () => {
  const { counter, record, database, inserted } = failing()
  record('a')
  await expect(counter.flush()).rejects.toThrow('the database is away')
  database.fails = false
  record('a')
  const stored: number[] = []
  const look = (): void => void stored.push(inserted.filter((insert) => insert.stored).length)
  await counter.whileStored(look, async () => look())
  expect(stored).toEqual([1, 2])
})
