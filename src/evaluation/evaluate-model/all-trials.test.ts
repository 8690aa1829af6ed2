import { describe, expect, it } from 'vitest'
import { StoreFailed, unavailable } from '../../errors.ts'
import { workOnAll } from './all-trials.ts'

async function* rows(count: number): AsyncGenerator<number> {
  for (let row = 0; row < count; row++) yield row
}

function signals() {
  const turn = new AbortController()
  return {
    turn,
    all: { signal: new AbortController().signal, turn: turn.signal, failed: new AbortController() },
  }
}

describe('workOnAll', () => {
  it('finishes the rows in progress when the turn is over, begins no other, and says so', async () => {
    const { turn, all } = signals()
    const ended = new Error('The turn is over')
    const done: number[] = []
    const work = workOnAll(
      rows(1000),
      async (row) => {
        await new Promise(setImmediate)
        if (row === 0) turn.abort(ended)
        done.push(row)
      },
      all,
    )
    await expect(work).rejects.toBe(ended)
    expect(done.length).toBeGreaterThan(0)
    expect(done.length).toBeLessThan(100)
  })

  it('throws why no row was done, and not that the turn is over', async () => {
    const { turn, all } = signals()
    const work = async (): Promise<void> => {
      await new Promise(setImmediate)
      turn.abort(new Error('The turn is over'))
      throw unavailable('away')
    }
    await expect(workOnAll(rows(1000), work, all)).rejects.toThrow('away')
  })

  it('is done where the last row was begun before the end of the turn', async () => {
    const { turn, all } = signals()
    let done = 0
    const work = async (row: number): Promise<void> => {
      if (row === 2) turn.abort(new Error('The turn is over'))
      done++
    }
    await workOnAll(rows(3), work, all)
    expect(done).toBe(3)
  })

  it('throws the first error once the others have ended', async () => {
    const { all } = signals()
    const begun: number[] = []
    const work = async (row: number): Promise<void> => {
      begun.push(row)
      await new Promise(setImmediate)
      if (row === 1) throw new Error('row 1')
    }
    await expect(workOnAll(rows(1000), work, all)).rejects.toThrow('row 1')
    expect(begun.length).toBeLessThan(100)
  })

  it('leaves a row that fails for now, and goes on with the others', async () => {
    const { all } = signals()
    const done: number[] = []
    const work = async (row: number): Promise<void> => {
      if (row % 3 === 0) throw unavailable(`row ${row}`)
      done.push(row)
    }
    await expect(workOnAll(rows(100), work, all)).rejects.toThrow('row 0')
    expect(done).toHaveLength(66)
  })

  it('begins no further row where all fail for now, and aborts them where a store fails', async () => {
    const { all } = signals()
    let begun = 0
    const away = async (): Promise<void> => {
      begun++
      throw unavailable('away')
    }
    await expect(workOnAll(rows(1000), away, all)).rejects.toThrow('away')
    expect(begun).toBeLessThan(100)
    const failed = new StoreFailed('the store', undefined)
    await expect(workOnAll(rows(1000), () => Promise.reject(failed), all)).rejects.toBe(failed)
    expect(all.failed.signal.aborted).toBe(true)
  })
})
