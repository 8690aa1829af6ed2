import { describe, expect, it } from 'vitest'
import { runRule } from './run-rule.ts'

const schemaRule = (pattern: string, output: string, options?: { timeoutMs: number }) =>
  runRule(
    'flood/project',
    {
      kind: 'builtin',
      className: 'JSONSchemaScorer',
      fields: { json_schema: { type: 'string', pattern } },
      scored: { output: JSON.stringify(output), inputs: {} },
    },
    options,
  )

/** Iterations of this thread's event loop during some work: none, if the work ran in this thread. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  const timer = setInterval(() => turns++, 10)
  await work()
  clearInterval(timer)
  return turns
}

describe('a rule of a user', () => {
  it('gives its result, one after the other and several at once', async () => {
    expect(await schemaRule('^a+$', 'aaa')).toEqual({ valid: true })
    const many = Array.from({ length: 20 }, (_, index) => schemaRule('^a+$', index % 2 ? 'aaa' : 'b'))
    expect((await Promise.all(many)).filter((said) => JSON.stringify(said).includes('true'))).toHaveLength(10)
    expect(await runRule('a/b', { kind: 'schema', schema: { type: 'integer' }, value: 1 })).toBe(true)
    await expect(
      runRule('a/b', {
        kind: 'builtin',
        className: 'LevenshteinScorer',
        fields: {},
        scored: { output: 1, inputs: {} },
      }),
    ).rejects.toThrow('The output is no text')
  })

  it('is given up when it takes too long, others do not wait meanwhile, and the next one works', async () => {
    const forEver = () =>
      expect(schemaRule('^(a+)+$', `${'a'.repeat(45)}!`, { timeoutMs: 1_000 })).rejects.toThrow('1000 ms')
    expect(await turnsDuring(() => Promise.all([forEver(), forEver(), forEver()]))).toBeGreaterThan(5)
    expect(await schemaRule('^a+$', 'aaa')).toEqual({ valid: true })
  })

  it('does not wait for the many of another project', async () => {
    let ended = 0
    const long = Array.from({ length: 8 }, () =>
      schemaRule('^(a+)+$', `${'a'.repeat(45)}!`, { timeoutMs: 500 }).catch(() => ended++),
    )
    expect(await runRule('a/b', { kind: 'schema', schema: { type: 'integer' }, value: 1 })).toBe(true)
    expect(ended).toBeLessThan(4)
    await Promise.all(long)
  })

  it('is given up when it takes too much memory, and the next one works', async () => {
    const items = { type: 'array', uniqueItems: true, items: { enum: Array(2_000_000).fill('x') } }
    const job = { kind: 'schema' as const, schema: { ...items, default: 'x'.repeat(1000) }, value: ['x'] }
    await runRule('a/b', job).catch((error: unknown) => expect(String(error)).toMatch(/takes more than/))
    expect(await schemaRule('^a+$', 'aaa')).toEqual({ valid: true })
  })
})
