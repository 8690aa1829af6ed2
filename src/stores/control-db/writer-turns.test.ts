import { describe, expect, it } from 'vitest'
import { urgently } from './urgent-writes.ts'
import { createWriterTurns } from './writer-turns.ts'

describe('createWriterTurns', () => {
  it('lets writers go one after the other, and urgent ones first', async () => {
    const turns = createWriterTurns()
    const first = await turns.take()
    const order: string[] = []
    const write = async (name: string) => {
      const turn = await turns.take()
      order.push(name)
      turn.end()
    }
    const writing = [write('a'), write('b'), urgently(() => write('urgent'))]
    expect(order).toEqual([])
    first.end()
    await Promise.all(writing)
    expect(order).toEqual(['urgent', 'a', 'b'])
    expect(turns.waitsMs()).toBe(0)
  })

  it('503 for those that have waited for too long, whichever their place', async () => {
    const turns = createWriterTurns(20)
    const stuck = await turns.take()
    const late = await Promise.allSettled([turns.take(), turns.take()])
    for (const { status, reason } of late as PromiseRejectedResult[]) {
      expect(status).toBe('rejected')
      expect(reason).toMatchObject({ status: 503, message: expect.stringMatching(/busy/) })
    }
    stuck.end()
    const next = await turns.take()
    expect(next.msLeft()).toBeGreaterThan(0)
    next.end()
  })
})
