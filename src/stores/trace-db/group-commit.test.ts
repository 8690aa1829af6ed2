import { describe, expect, it } from 'vitest'
import { createGroupCommit } from './group-commit.ts'

describe('createGroupCommit', () => {
  it('commits together what arrives while a commit runs', async () => {
    const commits: string[] = []
    const group = createGroupCommit(async (lines) => {
      commits.push(lines)
      await Promise.resolve()
    })
    await Promise.all(['a', 'b', 'c'].map((line) => group.write(line)))
    expect(commits).toEqual(['a', 'bc'])
  })

  it('retries the writers of a failed group one by one', async () => {
    const group = createGroupCommit(async (lines) => {
      if (lines.includes('bad')) throw new Error('refused')
    })
    const results = await Promise.allSettled(['a', 'b', 'bad', 'c'].map((line) => group.write(line)))
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
  })
})
