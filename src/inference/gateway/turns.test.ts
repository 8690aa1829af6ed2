import { describe, expect, it } from 'vitest'
import { createTurns } from './turns.ts'

const never = new AbortController().signal

const one = (group: string) => ({ group, slots: 1 })

/** Resolves when the callbacks of all settled promises have run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('createTurns', () => {
  it('serves groups in rotation, and each in order', async () => {
    const turns = createTurns(1)
    const order: string[] = []
    const release = await turns.take(one('flood'), never)
    const enter = async (group: string, name: string): Promise<void> => {
      const leave = await turns.take(one(group), never)
      order.push(name)
      leave()
    }
    const all = ['f1', 'f2', 'f3'].map((name) => enter('flood', name))
    all.push(enter('other', 'o1'), enter('other', 'o2'))
    release()
    await Promise.all(all)
    expect(order).toEqual(['f1', 'o1', 'f2', 'o2', 'f3'])
  })

  it('never has more at once than slots, also when one is given back twice', async () => {
    const turns = createTurns(2)
    const [first] = [await turns.take(one('a'), never), await turns.take(one('a'), never)]
    let started = 0
    const waiting = [1, 2, 3].map(() => turns.take(one('a'), never).then(() => started++))
    first()
    first()
    await settled()
    expect([started, waiting.length]).toEqual([1, 3])
  })

  it('forgets a request that stops waiting', async () => {
    const turns = createTurns(1)
    const release = await turns.take(one('a'), never)
    const leaving = new AbortController()
    const left = turns.take(one('a'), leaving.signal)
    const next = turns.take(one('a'), never)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    release()
    expect(await next).toBeTypeOf('function')
    await expect(turns.take(one('a'), AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
  })

  it('waits until there is room for one that needs some slots, and none overtakes it', async () => {
    const turns = createTurns(8)
    const held = await Promise.all(Array.from({ length: 8 }, () => turns.take(one('a'), never)))
    const order: string[] = []
    const many = turns.take({ group: 'many', slots: 2 }, never).then((leave) => {
      order.push('many')
      leave()
    })
    const small = turns.take(one('b'), never).then(() => order.push('small'))
    held[0]?.()
    await settled()
    expect(order).toEqual([])
    held[1]?.()
    await Promise.all([many, small])
    expect(order).toEqual(['many', 'small'])
  })

  it('gives one that needs all slots a quarter of them, so that one long answer does not make all others wait', async () => {
    const turns = createTurns(8)
    await turns.take(one('long'), never)
    const leave = await turns.take({ group: 'many', slots: 8 }, never)
    expect(turns.load()).toEqual({ answers: 3, answers_max: 8, waiting: 0 })
    await turns.take(one('a'), never)
    leave()
    expect(turns.load().answers).toBe(2)
    expect(await createTurns(2).take({ group: 'many', slots: 2 }, never)).toBeTypeOf('function')
  })
})
