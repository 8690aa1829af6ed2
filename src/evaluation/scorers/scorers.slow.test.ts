import { afterAll, describe, expect, it } from 'vitest'
import { openFakeProvider } from '../../inference/playground/fake-provider.ts'
import { builtinRule } from '../../rule-threads/builtin-rules.ts'
import { eventually } from '../../test-eventually.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { callsIn, publishing } from '../test-objects.ts'
import { createScorerCode } from './scorer-code.ts'

describe('scorers of builtin classes', () => {
  const score = (className: string, fields: Fields, output: unknown, inputs: Fields = {}): unknown =>
    builtinRule(className, fields)?.({ output, inputs })

  it.each([
    ['StringMatchScorer', {}, 'Paris', { target: 'in paris' }, { string_in_input: true }],
    ['LevenshteinScorer', {}, 'kitten', { target: 'sitting' }, { levenshtein_distance: 3 }],
    ['ValidJSONScorer', {}, '[1]', {}, { json_valid: true }],
    ['ValidJSONScorer', {}, '[1', {}, { json_valid: false }],
    ['ExactMatchScorer', {}, 'A', { target: 'a' }, { match: false }],
    ['ExactMatchScorer', { ignore_case: true }, 'A', { target: 'a' }, { match: true }],
    ['ExactMatchScorer', { column_map: { target: 'x' } }, { a: 1 }, { x: { a: 1 } }, { match: true }],
    ['ExactMatchScorer', { column_map: { target: 'x' } }, 'a', { x: 'b', target: 'a' }, { match: true }],
    ['ExactMatchScorer', { column_map: { target: 'x' } }, 'a', { target: 'a' }, { match: true }],
    ['ContainsScorer', {}, 'the answer', { target: 'answer' }, { contains: true }],
    ['RegexScorer', { pattern: '^\\d+$' }, '42', {}, { match: true }],
    ['RegexScorer', { pattern: '^\\d+$' }, 'x42', {}, { match: false }],
    ['JSONSchemaScorer', { json_schema: { required: ['a'] } }, '{"a":1}', {}, { valid: true }],
    ['JSONSchemaScorer', { json_schema: { required: ['a'] } }, '{"b":1}', {}, { valid: false }],
    ['JSONSchemaScorer', { json_schema: { required: ['a'] } }, 'no JSON', {}, { valid: false }],
    ['NumericScorer', { tolerance: 0.5 }, ' 3.4', { target: 3 }, { error: 0.4, within_tolerance: true }],
    ['NumericScorer', {}, 'three', { target: '3' }, { error: null, within_tolerance: false }],
    ['SimilarityScorer', {}, 'abcd', { target: 'abcx' }, { similarity: 0.75 }],
    ['SimilarityScorer', {}, '', { target: '' }, { similarity: 1 }],
  ])('%s %j', (className, fields, output, inputs, said) => {
    const given = score(className, fields, output, inputs)
    const rounded: unknown = JSON.parse(JSON.stringify(given), (_, value: unknown) =>
      typeof value === 'number' ? Math.round(value * 1e6) / 1e6 : value,
    )
    expect(rounded).toEqual(said)
  })

  it('refuse values that they cannot compare, and a pattern that takes too long', () => {
    expect(() => score('ExactMatchScorer', {}, 'x', { y: 1 })).toThrow('no target to compare with, only y')
    expect(() => score('LevenshteinScorer', {}, 1, { target: 'x' })).toThrow('no text')
    expect(() => score('NumericScorer', {}, 1, { target: 'x' })).toThrow('no number')
    expect(() => score('LevenshteinScorer', {}, 'x'.repeat(100_001), { target: '' })).toThrow('100000')
    expect(() => score('RegexScorer', { pattern: '(' }, 'x')).toThrow('pattern')
    expect(() => score('RegexScorer', {}, 'x')).toThrow('pattern')
    const twice = { a: { $id: 'https://a.example/' }, b: { $id: 'https://a.example/' } }
    for (const json_schema of [{ items: { $ref: 'http://[' } }, { $id: 'http://[' }, { properties: twice }])
      expect(() => score('JSONSchemaScorer', { json_schema }, '{}')).toThrow(
        'JSONSchemaScorer: json_schema is not a JSON schema: ',
      )
    expect(() => score('RegexScorer', { pattern: '^(a+)+$' }, `${'a'.repeat(40)}b`)).toThrow('500 ms')
    expect(score('OtherScorer', {}, 'x')).toBeUndefined()
  })
})

const provider = await openFakeProvider()
afterAll(() => provider[Symbol.asyncDispose]())

const server = useTestServer({
  providers: new Map([['fake', { baseUrl: provider.baseUrl, apiKey: undefined }]]),
  // How code is confined is tested in engine/tests.
  scorerPython: { find: () => 'python3', confinement: 'none' },
})
const objects = publishing(server)

async function latestOf(project_id: string, name: string): Promise<string> {
  const request = { project_id, object_id: name, digest: 'latest' }
  const { obj } = await replyOf<{ obj: Fields }>(await server.post('/obj/read', request))
  return `weave:///${project_id}/op/${name}:${obj['digest']}`
}

/** Scores one call and returns the result. */
async function scoring(project: string, scorer: string): Promise<Fields> {
  const call = {
    project_id: project,
    op_name: 'answer',
    started_at: '2026-01-01T00:00:00Z',
    attributes: {},
    inputs: { expected: 'abc', other: [1] },
  }
  const { id } = await replyOf(await server.post('/call/start', { start: call }))
  const end = { project_id: project, id, ended_at: '2026-01-01T00:00:01Z', output: 'abcd', summary: {} }
  await replyOf(await server.post('/call/end', { end }))
  await replyOf(
    await server.post('/calls/score', { project_id: project, call_ids: [id], scorer_refs: [scorer] }),
  )
  return eventually(async () => {
    const own = (await callsIn(server, project)).find((one) => one['op_name'] !== 'answer')
    if (own === undefined) throw new Error('The call has not been scored yet')
    return own
  })
}

describe('scorers that are code', () => {
  it('get the arguments that their parameters name', async () => {
    const project = server.newProject()
    const source = `import weave

@weave.op()
async def close(output, expected):
    print("this goes nowhere")
    return {"longer": len(output) - len(expected), "same": output == expected}
`
    const op = await objects.op(project, 'close', source)
    const call = await scoring(project, op)
    expect(call).toMatchObject({ op_name: op, exception: null, output: { longer: 1, same: false } })
    expect(await latestOf(project, 'close')).toBe(op)
  })

  it('have the fields of their object', async () => {
    const project = server.newProject()
    const source = `import weave

@weave.op
def score(self, *, output, target, **kwargs):
    return {"over": len(output) > self.limit, "target": target, "seen": sorted(kwargs)}
`
    const op = await objects.op(project, 'LimitScorer.score', source)
    const fields = { name: 'limit', limit: 3, score: op, column_map: { target: 'expected' } }
    const call = await scoring(project, await objects.scorer(project, 'LimitScorer', fields))
    const output = { over: true, target: 'abc', seen: ['expected', 'inputs', 'other'] }
    expect(call).toMatchObject({ op_name: op, exception: null, output })
    expect(await latestOf(project, 'LimitScorer.score')).toBe(op)
  })

  it.each([
    ['throw', 'raise ValueError("no good")', 'ValueError: no good'],
    ['leave', 'raise SystemExit(3)', 'SystemExit: 3'],
    ['die', 'import os; os._exit(1)', 'did not answer'],
    ['take memory', 'return len("x" * 3 * 1024 ** 3)', 'MemoryError'],
    ['write files', 'import tempfile; tempfile.TemporaryFile().write(b"x")', 'No usable temporary directory'],
    ['say what is no JSON', 'return float("nan")', 'ValueError'],
  ])('say so when they %s', async (_, body, exception) => {
    const project = server.newProject()
    const scorer = await objects.op(project, 'bad', `def bad(output):\n    ${body}\n`)
    expect(await scoring(project, scorer)).toMatchObject({ exception: expect.stringContaining(exception) })
  })

  it('that this server has rules for keep the op that clients published with them', async () => {
    const project = server.newProject()
    const op = await objects.op(project, 'ValidJSONScorer.score', 'def score(self, *, output): ...')
    const call = await scoring(project, await objects.scorer(project, 'ValidJSONScorer', { score: op }))
    expect(call).toMatchObject({ op_name: op, output: { json_valid: false } })
    expect(await latestOf(project, 'ValidJSONScorer.score')).toBe(op)
  })

  it('report an error when there is no Python', async () => {
    const source = Buffer.from('def x(output): ...')
    const files = { read: async () => source }
    const val = { files: { 'obj.py': 'digest' } }
    const found = { projectId: 'a/b', name: 'x', digest: 'd', kind: 'op', ref: 'weave:///a/b/op/x:d', val }
    const read = () => Promise.reject(new Error('Nothing else is read'))
    const code = createScorerCode({
      python: { find: () => '/nowhere/python', confinement: 'required' },
      objects: { read },
      files,
    })
    const score = await code.load(found)
    const context = {
      ask: () => Promise.reject(new Error('No model is asked')),
      project_id: 'a/b',
      callId: 'x',
      traceId: 'x',
      signal: new AbortController().signal,
    }
    await expect(score({ output: 1, inputs: {} }, context)).rejects.toThrow('Python did not start')
  })
})
