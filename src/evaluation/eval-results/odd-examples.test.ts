import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { bytesDigest, jsonDigest } from '../../trace/digest.ts'
import { finishedCall, writeDeepCalls } from '../../trace/test-calls.ts'

const server = useTestServer()

interface Results {
  rows: { row_digest: string; evaluations: { trials: Fields[] }[] }[]
  total_rows: number
}

/** A run with one trial of each example, which are JSON texts. */
async function evaluate(project: string, examples: readonly string[]): Promise<string> {
  const run = newId()
  const op_name = `weave:///${project}/op/Evaluation.predict_and_score:abc`
  const trials = examples.map((example) => {
    const trial = finishedCall({ parent_id: run, op_name, inputs: { example: '' }, output: { output: 1 } })
    return JSON.stringify(trial).replace('{"example":""}', () => `{"example":${example}}`)
  })
  const body = `{"batch":[${trials.join(',')}]}`
  await writeDeepCalls(server, project, body)
  return run
}

describe('POST /v2/{entity}/{project}/eval_results/query of examples that no dataset can hold', () => {
  it.each([
    ['an object with lists nested deeply', `{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['objects nested deeply', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`],
  ])('200 with a row for %s, named by the digest of its text', async (_, example) => {
    const project = server.newProject()
    const evaluation_call_ids = [await evaluate(project, [example, '{"n":1}'])]
    const query = async (fields: Fields) =>
      replyOf<Results>(
        await server.post(`/v2/${project}/eval_results/query`, { evaluation_call_ids, ...fields }),
      )
    const digests = [bytesDigest(example), jsonDigest('{"n":1}')].toSorted()
    const { rows, total_rows } = await query({ include_raw_data_rows: true, include_summary: true })
    expect(total_rows).toBe(2)
    expect(rows.map(({ row_digest }) => row_digest)).toEqual(digests)
    expect(rows.map(({ evaluations }) => evaluations[0]?.trials.length)).toEqual([1, 1])
    expect((await query({ limit: 1 })).rows[0]?.row_digest).toBe(digests[0])
  })
})

describe('POST /v2/{entity}/{project}/eval_results/query of answers that the database cannot parse', () => {
  it.each([String.raw`"\ud83d"`, '1e400', '18446744073709551616'])(
    '200 with the scores of a trial that answered %s',
    async (answer) => {
      const project = server.newProject()
      const run = newId()
      const op_name = `weave:///${project}/op/Evaluation.predict_and_score:abc`
      const trials = [true, false].map((exact) => {
        const inputs = { example: { n: 1 } }
        const output = { output: 'ANSWER', scores: { exact } }
        const trial = finishedCall({ parent_id: run, op_name, inputs, output })
        return JSON.stringify(trial)
          .replace('"ANSWER"', () => answer)
          .replace('"n":1', () => `"n":${answer}`)
      })
      await writeDeepCalls(server, project, `{"batch":[${trials.join(',')}]}`)
      const asked = { evaluation_call_ids: [run], include_summary: true }
      const reply = await replyOf<{ summary: { evaluations: Fields[] } }>(
        await server.post(`/v2/${project}/eval_results/query`, asked),
      )
      expect(reply.summary.evaluations).toMatchObject([
        { scorer_stats: [{ scorer_key: 'exact', pass_rate: 0.5 }] },
      ])
    },
  )
})

describe('POST /v2/{entity}/{project}/eval_results/query of many examples that are refs of one large value', () => {
  it('413 where the rows are to be resolved, or sorted by it, and 200 with the refs', async () => {
    const project = server.newProject()
    const val = { a: 'x'.repeat(4_000_000) }
    const made = await replyOf(
      await server.post('/obj/create', { obj: { project_id: project, object_id: 'bigobject', val } }),
    )
    // The same name in other letters, so that each ref is a row of its own.
    const names = Array.from({ length: 70 }, (_, n) =>
      [...'bigobject'].map((c, at) => ((n >> at) & 1 ? `%${c.charCodeAt(0).toString(16)}` : c)).join(''),
    )
    const examples = names.map((name) => `"weave:///${project}/object/${name}:${String(made['digest'])}"`)
    const asked = { evaluation_call_ids: [await evaluate(project, examples)], include_raw_data_rows: true }
    const query = (fields: Fields) =>
      server.post(`/v2/${project}/eval_results/query`, { ...asked, ...fields })
    expect((await replyOf<Results>(await query({}))).total_rows).toBe(70)
    expect((await query({ resolve_row_refs: true })).status).toBe(413)
    const sort_by = [{ field: 'inputs.a', direction: 'asc' }]
    expect((await query({ sort_by })).status).toBe(413)
  })
})
