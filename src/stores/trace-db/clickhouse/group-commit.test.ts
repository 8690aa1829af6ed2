import { describe, expect, it, vi } from 'vitest'
import { eventually } from '../../../test-eventually.ts'
import { createGroupCommit, type GroupCommit } from './group-commit.ts'

const KEPT = { kept: Promise.resolve() }

/** Resolves when the callbacks of all settled promises have run. */
const idle = () => new Promise((resolve) => setImmediate(resolve))

/** A group commit of rows that are texts. */
function textCommit(
  sessions: readonly ((rows: string) => Promise<{ kept: Promise<void> }>)[],
): Pick<GroupCommit, 'drained'> & { write(owner: string, rows: string): Promise<void> } {
  const group = createGroupCommit(sessions.map((commit) => (rows) => commit(Buffer.concat(rows).toString())))
  return { ...group, write: (owner, rows) => group.write(owner, Buffer.from(rows)) }
}

describe('createGroupCommit', () => {
  it('commits rows together that arrive while a commit runs', async () => {
    const commits: string[] = []
    const group = textCommit([
      async (lines) => {
        commits.push(lines)
        return KEPT
      },
    ])
    await Promise.all(['a', 'b', 'c'].map((line) => group.write('a/b', line)))
    expect(commits).toEqual(['a', 'bc'])
  })

  it('finds refused rows by halving, and only these fail', async () => {
    let commits = 0
    const group = textCommit([
      async (lines) => {
        commits++
        if (lines.includes('bad')) throw new Error('refused')
        return KEPT
      },
    ])
    const rows = Array.from({ length: 257 }, (_, index) => (index === 100 ? 'bad' : 'good'))
    const results = await Promise.allSettled(rows.map((row, index) => group.write(`owner ${index}`, row)))
    expect(results.map(({ status }) => status)).toEqual(
      rows.map((row) => (row === 'bad' ? 'rejected' : 'fulfilled')),
    )
    // The first writer is alone; among 256 others, 8 halvings of two commits each find the bad one.
    expect(commits).toBe(1 + 1 + 16)
  })

  it('tries the rows of others no more often because one owner has many that are refused', async () => {
    const tries = new Map<string, number>()
    const group = textCommit([
      async (lines) => {
        for (const name of lines.split('\n')) tries.set(name, (tries.get(name) ?? 0) + 1)
        if (lines.includes('bad')) throw new Error('refused')
        return KEPT
      },
    ])
    const first = group.write('first', 'first\n')
    const bad = Array.from({ length: 128 }, () => group.write('bad owner', 'bad\n'))
    const good = Array.from({ length: 128 }, (_, index) => group.write('good owner', `good ${index}\n`))
    await Promise.allSettled([first, ...bad, ...good])
    const mostTries = Math.max(
      ...[...tries].filter(([name]) => name.startsWith('good')).map(([, count]) => count),
    )
    expect(mostTries).toBe(2)
  })

  it('writes the next group before the result of the previous one is known; each writer gets its own result', async () => {
    const settle: (() => void)[] = []
    const group = textCommit([
      async (lines) => ({
        kept: new Promise((resolve, reject) => {
          settle.push(() => (lines === 'a' ? resolve() : reject(new Error('lost'))))
        }),
      }),
    ])
    const told: string[] = []
    const writes = ['a', 'b', 'c'].map((line) =>
      group.write('a/b', line).then(
        () => told.push(`${line} kept`),
        () => told.push(`${line} lost`),
      ),
    )
    await eventually(() => expect(settle).toHaveLength(2))
    expect(told).toEqual([])
    for (const go of settle) go()
    await Promise.all(writes)
    await group.drained()
    expect(told).toEqual(['a kept', 'b lost', 'c lost'])
  })

  it('lets owners take turns, however much each has to write', async () => {
    const half = 'x'.repeat(16 * 1024 * 1024)
    const order: string[] = []
    const group = textCommit([async () => KEPT])
    const flood = [1, 2, 3, 4, 5, 6].map((number) =>
      group.write('flood', half).then(() => order.push(`flood ${number}`)),
    )
    const small = group.write('other', 'y').then(() => order.push('other'))
    await Promise.all([...flood, small])
    expect(order.indexOf('other')).toBeLessThanOrEqual(order.indexOf('flood 3'))
  })

  it('takes as many rows of an entity with one project as of one with many', async () => {
    // Work that takes no time is followed by no pause.
    vi.useFakeTimers({ toFake: ['performance'] })
    const commits: string[] = []
    const group = textCommit([
      async (rows) => {
        commits.push(rows)
        return KEPT
      },
    ])
    const half = (name: string) => name + 'x'.repeat(256 * 1024)
    const first = group.write('flood/0', 'first')
    const flood = ['1', '2', '3', '4'].map((project) => group.write(`flood/${project}`, half(project)))
    await Promise.all([first, ...flood, group.write('other/project', half('o'))])
    expect(commits[1]?.replaceAll('x', '')).toBe('1o')
    vi.useRealTimers()
  })

  it('refuses an owner that has used up its share, and no other owner', async () => {
    let goOn: () => void = () => {}
    const group = textCommit([() => new Promise((resolve) => (goOn = () => resolve(KEPT)))])
    const large = 'x'.repeat(32 * 1024 * 1024)
    const writes = Array.from({ length: 8 }, () => group.write('flood', large))
    const results = Promise.allSettled([...writes, group.write('other', large)])
    const finished = setInterval(() => goOn(), 1)
    const refused = (await results).map(({ status }) => status === 'rejected')
    clearInterval(finished)
    expect(refused).toEqual([false, false, false, false, false, false, false, true, false])
  })

  describe('with a second session', () => {
    function twoSessions() {
      const begun: string[] = []
      const end = new Map<string, () => void>()
      const session = (name: string) => (rows: string) => {
        begun.push(`${name}: ${rows}`)
        return new Promise<typeof KEPT>((resolve) => end.set(rows, () => resolve(KEPT)))
      }
      return { group: textCommit([session('one'), session('two')]), begun, end }
    }

    it('commits the rows of another owner beside the commit in progress', async () => {
      const { group, begun, end } = twoSessions()
      const flood = group.write('flood', 'f1')
      const other = group.write('other', 'o1')
      expect(begun).toEqual(['two: f1', 'one: o1'])
      end.get('o1')?.()
      await other
      end.get('f1')?.()
      await flood
    })

    it('leaves a session to others while an entity writes to many projects', async () => {
      const { group, begun, end } = twoSessions()
      const ended = async (rows: string): Promise<void> => {
        await eventually(() => expect(end.has(rows)).toBe(true))
        end.get(rows)?.()
      }
      const flood = (rows: string) =>
        ['1', '2'].map((project) => group.write(`flood/${project}`, rows + project))
      const alone = flood('a')
      expect(begun).toEqual(['two: a1', 'one: a2'])
      await Promise.all([...alone, ended('a1'), ended('a2')])
      await idle()
      await Promise.all([group.write('quiet/project', 'q1'), ended('q1')])
      await idle()
      const beside = flood('b')
      const small = group.write('quiet/project', 'q2')
      expect(begun.slice(3).map((line) => line.slice(-2))).toEqual(['b1', 'q2'])
      await Promise.all([small, ended('q2')])
      expect(end.has('b2')).toBe(false)
      await Promise.all([...beside, ended('b1'), ended('b2')])
    })

    it('keeps the rows of one owner in one session, in their order', async () => {
      const { group, begun, end } = twoSessions()
      const writes = ['f1', 'f2', 'f3'].map((rows) => group.write('flood', rows))
      expect(begun).toEqual(['two: f1'])
      end.get('f1')?.()
      await eventually(() => expect(begun).toEqual(['two: f1', 'two: f2f3']))
      end.get('f2f3')?.()
      await Promise.all(writes)
      await group.drained()
    })

    it('writes the rows that a full group left with the idle session', async () => {
      const { group, begun, end } = twoSessions()
      const large = 'x'.repeat(512 * 1024)
      const writes = [group.write('a', 'a1'), group.write('b', 'b1')]
      writes.push(group.write('a', large), group.write('b', 'b2'))
      end.get('b1')?.()
      await eventually(() => expect(begun).toHaveLength(3))
      end.get('a1')?.()
      await eventually(() => expect(begun).toHaveLength(4))
      expect(begun.slice(2)).toEqual(['one: b2', `two: ${large}`])
      for (const go of end.values()) go()
      await Promise.all(writes)
    })

    it('pauses an owner with more rows three times as long as its group took while another waits for its answers', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      try {
        const { group, begun, end } = twoSessions()
        const first = group.write('flood', 'f1')
        const writes = [first, group.write('flood', 'f2'), group.write('other', 'o1')]
        vi.advanceTimersByTime(40)
        end.get('f1')?.()
        end.get('o1')?.()
        await first
        await idle()
        vi.advanceTimersByTime(119)
        expect(begun).toEqual(['two: f1', 'one: o1'])
        vi.advanceTimersByTime(1)
        expect(begun).toEqual(['two: f1', 'one: o1', expect.stringMatching(': f2$')])
        end.get('f2')?.()
        await Promise.all(writes)
      } finally {
        vi.useRealTimers()
      }
    })

    it('pauses owners with more rows for as long as their groups took where all have more', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      try {
        const { group, begun, end } = twoSessions()
        const first = group.write('one', 'a1')
        const writes = ['a2', 'a3'].map((rows) => group.write('one', rows))
        writes.push(...['b1', 'b2', 'b3'].map((rows) => group.write('two', rows)))
        vi.advanceTimersByTime(40)
        end.get('a1')?.()
        await first
        await idle()
        vi.advanceTimersByTime(39)
        expect(begun).toHaveLength(2)
        vi.advanceTimersByTime(1)
        expect(begun.slice(2)).toEqual([expect.stringMatching(': a2,?a3$')])
        const finished = setInterval(() => {
          for (const go of end.values()) go()
        }, 1)
        await Promise.all([...writes, group.drained()])
        clearInterval(finished)
      } finally {
        vi.useRealTimers()
      }
    })

    it('ends the pauses when everything is to be written', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      try {
        const { group, begun, end } = twoSessions()
        const first = group.write('flood', 'f1')
        const writes = [first, group.write('flood', 'f2'), group.write('other', 'o1')]
        vi.advanceTimersByTime(40)
        end.get('f1')?.()
        end.get('o1')?.()
        await first
        await idle()
        const drained = group.drained()
        expect(begun).toHaveLength(3)
        end.get('f2')?.()
        await Promise.all([...writes, drained])
      } finally {
        vi.useRealTimers()
      }
    })
  })
})
