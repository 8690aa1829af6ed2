import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from './client-program.ts'
import { type LoggedRequest, runClient, startServer, type WireServer } from './server.ts'

const NODE = join(import.meta.dirname, '../../node_modules/.bin/node')

let server: WireServer

beforeAll(async () => {
  // No engine: nothing here uses a model, and the engine's start would slow the clients down.
  server = await startServer(
    { HEDDLE_AUTH: 'keys', HEDDLE_CACHE: '/nonexistent/cache' },
    { teams: ['whole'] },
  )
})
afterAll(() => server[Symbol.asyncDispose]())

/** Output of a program with the Python client. Wire: its cache is not keyed by server, so each run gets a new one. */
async function python(program: string, env: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const cache = await mkdtemp(join(tmpdir(), 'heddle-weave-cache-'))
  try {
    return await runClient([pythonIn('clients'), clientProgram(program)], {
      WANDB_BASE_URL: server.url,
      WANDB_API_KEY: server.key,
      WEAVE_SERVER_CACHE_DIR: cache,
      ...env,
    })
  } finally {
    await rm(cache, { recursive: true, force: true })
  }
}

async function callsOf(project_id: string): Promise<unknown[]> {
  const reply = await fetch(`${server.url}/calls/stream_query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}` },
    body: JSON.stringify({ project_id }),
  })
  const lines = (await reply.text()).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as unknown)
}

// The clients wait most of the time, for a second at every flush.
describe.concurrent('PyPI weave, its whole flow', () => {
  it('calls: made in every way, found in every way, renamed, deleted', async () => {
    expect(await python('weave_calls.py')).toEqual({
      ways: {
        result: [42, 42, 'twice by its op'],
        children: [[21, 42]],
        slowly: [2],
        streams: [[0, 1, 2, 3], [[0, 1, 2, 3]], [0, 1, 2], [[0, 1, 2]]],
        statuses: ['success', 'error'],
        caught: ['descendant_error'],
        by_hand: [1, 'done', 'by hand', 'by hand'],
      },
      contexts: {
        attributes: { er: [1, 2.5] },
        env: 'test',
        thread_calls: 3,
        turns: 2,
        generated: 1,
      },
      many: {
        every: true,
        length: 120,
        page: [109, 108, 107],
        page_length: 3,
        slice: [117, 116],
        large: 19,
        narrow: Array(5).fill(['a', 'b']),
        narrow_output: Array(5).fill(null),
        in: 48,
        contains: 1,
        storage: true,
      },
      refs: { found: [[30, 30]], by_ref: [30], views: ['report'] },
      changes: { renamed: ['another name', null], deleted: 5, gone: true },
    })
  })

  it('objects: versions, tags, aliases, prompts, saved views, monitors, leaderboards', async () => {
    expect(await python('weave_objects.py')).toEqual({
      versions: {
        latest: 2,
        several: 2,
        deleted: expect.stringContaining('settings:v1 was deleted at'),
        rest: 1,
        typed: [2, { a: [1, 2.5, null] }],
        by_path: [2],
      },
      labels: {
        tags: [['draft'], ['reviewed']],
        aliases: [[], ['latest', 'production', 'staging']],
        both: ['reviewed'],
        project: [
          ['draft', 'reviewed'],
          ['production', 'staging'],
        ],
        by_alias: 'two',
        left: ['latest', 'staging'],
      },
      prompts: {
        string: 'Hello, Ada!',
        messages: [
          { role: 'system', content: 'You speak Frisian.' },
          { role: 'user', content: 'Hi' },
        ],
        easy: [
          { role: 'user', content: 'Count to 3' },
          { role: 'system', content: 'Slowly.' },
        ],
      },
      views: {
        loaded: ['large sums', 'traces', 6],
        found: [
          [5, 6],
          [4, 5],
        ],
        rows: [
          ['5', '6', '✅'],
          ['4', '5', '✅'],
        ],
      },
      monitors: {
        active: [true, false],
        ops: ['weave:///whole/objects/op/add:*'],
        query: { $expr: { $gt: [{ $getField: 'started_at' }, { $literal: 1742540400 }] } },
        scorers: [['positive', 1]],
        versions: 2,
      },
      leaderboard: {
        columns: [['Positive', 'positive.true_count']],
        values: [1, 2],
        models: ['doubling', 'negating'],
        evaluations: ['signs'],
      },
    })
  })

  it('feedback of every kind, scorers, and costs', async () => {
    expect(await python('weave_scoring.py')).toEqual({
      feedback: {
        types: ['correctness', 'wandb.annotation.taste', 'wandb.note.1', 'wandb.reaction.1'],
        reaction: [{ emoji: '👍', alias: ':thumbs_up:', detoned: '👍', detoned_alias: ':thumbs_up:' }, 'Ada'],
        note: { note: 'well said' },
        custom: { value: 0.75, why: ['a', null] },
        annotation: { value: 4 },
        spec: [{ type: 'integer', minimum: 1, maximum: 5 }, true, false],
        after_purge: ['correctness', 'wandb.annotation.taste', 'wandb.note.1'],
        included: ['correctness', 'wandb.annotation.taste', 'wandb.note.1'],
        found: [true],
        kinds: 3,
        by_reaction: 1,
      },
      scores: {
        results: [true, { long: true, length: 9 }],
        kept: { 'wandb.runnable.shouted': true, 'wandb.runnable.length': { long: true, length: 9 } },
        call_refs: [true, true],
        runnable: true,
        scored_by: [true],
        score_call: 9,
      },
      costs: {
        tokens: [100, 20, 1],
        total: [50, 5],
        same_in_list: true,
        listed: [
          [0.5, 0.25],
          [1, 2],
        ],
        one: [0.5],
        left: [true],
        repriced: 100,
      },
    })
  })

  it('annotation queues: calls added, taken, labelled, skipped', async () => {
    expect(await python('weave_annotation.py')).toEqual({
      queues: {
        read: ['Doubtful answers', 'Is it polite?', true],
        renamed: ['the others', true],
        listed: ['Doubtful answers', 'the others'],
        named: [true],
        deleted: true,
        left: [true],
      },
      items: {
        added: [600, 0, 600, 600],
        listed: true,
        fields: ['inputs.number', 'output.text'],
        page: [
          [1198, 2],
          [1197, 3],
        ],
        calls: 1200,
      },
      progress: {
        states: [
          ['in_progress', 'local', true],
          ['completed', 'local', true],
          ['skipped', 'local', true],
        ],
        next: true,
        unstarted: 1198,
        stats: [1200, 2],
        feedback: [['wandb.annotation.polite', { value: true }, true]],
      },
    })
  })

  it('media: images, sounds, documents, pages, byte by byte', async () => {
    expect(await python('weave_media.py')).toEqual({
      images: { input: true, output: true, published: true, rows: [8, 9, 10, 11, 12] },
      sounds: { wave: [8000, true], audio: ['wav', true, true] },
      contents: {
        document: [true, 'application/pdf', { pages: 3 }],
        html: [true, 'text/html', { page: 1 }],
        markdown: '# Title\n\n`code`',
        time: '2026-01-02T03:04:05.678901+00:00',
        file: 'kept as a file',
        video: [true, 'video/mp4'],
      },
      at_once: 20,
    })
  })

  it('a dataset of 10 000 rows', async () => {
    const nested = { half: 2121, list: [4242, null, '4242'] }
    expect(await python('weave_datasets.py')).toEqual({
      large: {
        length: [10_000, 10_000, 10_000],
        equal: true,
        columns: ['n', 'text', 'nested'],
        one: { n: 9999, text: 'row 9999 – ü', nested: { half: 4999.5, list: [9999, null, '9999'] } },
        selected: [0, 5000, 9999],
      },
      grown: { lengths: [10_000, 10_002, 10_003], last: [9999, 10_000, 10_001, -1] },
      used: { rows: [[nested, 4242]], from_calls: 2 },
    })
  })

  it.each([
    ['call batches of its default kind', {}],
    ['call batches of the older kind', { WEAVE_USE_CALLS_COMPLETE: 'false' }],
  ])('evaluations of 500 rows, with %s', async (name, env) => {
    const project = `whole/${name.replaceAll(' ', '-')}`
    expect(await python('weave_evaluations.py', { ...env, PROJECT: project })).toEqual({
      evaluated: {
        summary: {
          // Row 13 fails: the mean of 3n over the other 499.
          output: { value: { mean: (3 * (124_750 - 13)) / 499 } },
          even: { true_count: 250, true_fraction: 0.5 },
          Distance: { apart: { mean: 0 }, exact: { true_count: 499, true_fraction: 0.998 } },
        },
        kept: true,
        status: 'descendant_error',
        children: 500,
        predictions: [500, 1],
        rows: true,
        feedback: ['wandb.runnable.Distance', 'wandb.runnable.even'],
        total: 2001,
        evaluations: ['triples'],
      },
      logged: {
        name: 'by hand',
        summary: {
          right: { true_count: 50, true_fraction: 50 / 501 },
          close: { distance: { mean: 3.1 } },
          output: { note: 'done' },
        },
        status: 'success',
        views: ['report'],
        children: 501,
        scores: { right: true, close: { distance: 0 } },
        grandchildren: 2,
        model: ['handmade', 3],
      },
      failed: { status: 'error', why: 'stopped' },
    })
  })

  it('conversations with agents', async () => {
    expect(await python('weave_conversation.py')).toEqual({ logged: 'talk-2' })
    const turn = { thread_id: 'talk-1', attributes: { agent_name: 'clerk', operation_name: 'invoke_agent' } }
    expect(await callsOf('whole/conversation')).toMatchObject([
      { ...turn, parent_id: null, summary: { weave: { status: 'success' } } },
      {
        thread_id: 'talk-1',
        inputs: {
          'gen_ai.input.messages': [
            {
              role: 'user',
              parts: [
                { type: 'text', content: 'What is in the picture?' },
                { type: 'uri', mime_type: 'image/png', uri: expect.stringMatching(/^weave:\/\/\/.*Content/) },
              ],
            },
          ],
        },
        output: { 'gen_ai.output.messages': [{ parts: [{ content: 'I must look.' }] }] },
        attributes: { model: 'house-model', provider: 'house' },
        summary: { usage: { 'house-model': { input_tokens: 12, output_tokens: 3, total_tokens: 15 } } },
      },
      {
        inputs: { 'gen_ai.tool.call.arguments': { at: 'picture' } },
        output: { 'gen_ai.tool.call.result': { colour: 'red' } },
        attributes: { operation_name: 'execute_tool' },
      },
      { attributes: { agent_name: 'painter' } },
      { output: { 'gen_ai.output.messages': [{ parts: [{ content: 'red it is' }] }] } },
      { ...turn, exception: 'the clerk left', summary: { weave: { status: 'error' } } },
      { thread_id: 'talk-2', output: { 'gen_ai.output.messages': [{ parts: [{ content: 'Good day' }] }] } },
    ])
  })
})

describe.concurrent('npm weave, its whole flow', () => {
  it('reads back what it wrote', async () => {
    const seen = await runClient([NODE, clientProgram('weave_whole.mjs')], {
      WANDB_BASE_URL: server.url,
      WF_TRACE_SERVER_URL: server.url,
      WANDB_API_KEY: server.key,
    })
    const usage = { 'fake-model': { requests: 1, prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } }
    expect(seen).toEqual({
      ops: {
        result: { sum: 4, nested: [5] },
        kept: [{ x: 3 }, { sum: 4, nested: [5] }, 'renamed'],
        children: [4, 5],
        failed: [true, 'error'],
        streamed: [
          [0, 1, 2],
          [0, 1, 2],
        ],
        attributes: [[{ list: [1, null] }, 30]],
      },
      openai: {
        answers: ['Good day', 'Good day'],
        kept: [
          ['Good day', usage],
          ['Good day', usage],
        ],
        inputs: ['Hello', 'Hello'],
      },
      media: { image: ['PIL.Image.Image', true], audio: ['wave.Wave_read', true] },
      prompts: {
        string: 'Hello, Ada!',
        messages: [{ role: 'system', content: 'You speak Frisian.' }],
        object: { nested: { x: [1, 2.5, null, 'ü'] } },
      },
      evaluations: {
        summary: {
          exact: { true_count: 499, true_fraction: 0.998 },
          apart: { apart: { mean: 0.498 } },
          success: { true_count: 499, true_fraction: 0.998 },
        },
        kept: true,
        children: 500,
        dataset: [500, 124_750, 1497],
      },
      logged: {
        output: { right: { true_count: 5, true_fraction: 0.1 }, distance: { mean: 3.1 } },
        children: 50,
        scores: { right: true, distance: 0 },
      },
      scores: { ids: [true], kinds: [['wandb.runnable.add', { output: { good: true } }]] },
      queries: { limited: 3, same: true, more: true },
    })
  })
})

describe('the whole flows together', () => {
  it('saw no failed request, but for one that read a version which it had deleted', async () => {
    const kinds = Map.groupBy(await server.takeRequests(), kindOf)
    const failed = [...kinds].flatMap(([kind, [first]]) => ((first?.status ?? 0) >= 400 ? [kind] : []))
    console.log(
      [...kinds]
        .map(([kind, all]) => `${kind} ×${all.length}`)
        .sort()
        .join('\n'),
    )
    expect(failed).toEqual(['POST /traces/obj/read 404'])
    expect(kinds.get('POST /traces/obj/read 404')).toHaveLength(1)
  })
})

/** Method, path and status; digests, ids and projects are left out of the path. */
function kindOf({ method, path, status }: LoggedRequest): string {
  const shape = path
    .replaceAll(/\/[\w-]{43,}(?=\/|$)/g, '/{digest}')
    .replaceAll(/\/[0-9a-f]{8}-[0-9a-f-]{27}(?=\/|$)/g, '/{id}')
    .replace(/\/v2\/[^/]+\/[^/]+/, '/v2/{entity}/{project}')
  return `${method} ${shape} ${status}`
}
