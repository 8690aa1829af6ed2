import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReady, pythonIn } from '../../scripts/python-environments.ts'
import { clientFolders } from './client-folders.ts'
import { clientProgram } from './client-program.ts'
import { runClient, startServer, type WireServer } from './server.ts'

let server: WireServer

beforeAll(async () => {
  // The engine is not needed here, and its start would only slow this down.
  server = await startServer({ HEDDLE_AUTH: 'keys', HEDDLE_CACHE: '/nonexistent/cache' })
})
afterAll(() => server[Symbol.asyncDispose]())

/** Settings that point a client at the server, with a new folder for the files that it keeps. */
async function settings(): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-wandb-'))
  return {
    WANDB_BASE_URL: server.url,
    WANDB_API_KEY: server.key,
    ...clientFolders(folder),
  }
}

describe('PyPI wandb with only WANDB_BASE_URL and WANDB_API_KEY', () => {
  it('logs, resumes and reads runs, and keeps artifacts, without one failed request', async () => {
    const seen = await runClient(
      [pythonIn('clients'), clientProgram('wandb_basic.py'), 'wire'],
      await settings(),
    )
    expect((await server.takeRequests()).filter(({ status }) => status >= 400)).toEqual([])
    expect(seen).toMatchObject({
      run: {
        state: 'finished',
        name: 'The first',
        tags: ['a'],
        notes: 'a note',
        config: { lr: 0.1, layers: [1, 2], more: true },
        summary: { best: 7, loss: 0.05, text: 't', _step: 19 },
        nan: 'nan',
        losses: Array.from({ length: 20 }, (_, index) => 1 / (index + 1)),
        range: [3, 4, 5],
        sampled: [0, 5, 10, 15].map((step) => ({ _step: step, loss: 1 / (step + 1), 'deep.x': step })),
        system: true,
        files: expect.arrayContaining(['config.yaml', 'output.log', 'wandb-summary.json']),
        metadata: true,
        output: ['a line of output'],
        runs: ['first'],
      },
      resumed: {
        must: expect.stringContaining('does not exist'),
        started_at: [0, 2, 4],
        never: expect.stringContaining('already exists'),
        history: [
          [0, 'allow'],
          [1, 'allow'],
          [2, 'allow'],
          [3, 'allow'],
          [4, 'must'],
          [5, 'must'],
        ],
        config: { allow: 1, must: 1 },
        output: 3,
        failed: 'failed',
      },
      stopped: ['finished', 'running', 'finished'],
      unsupported: [
        expect.stringContaining('mode="shared"'),
        expect.stringContaining('fork_from'),
        expect.stringContaining('fork_from'),
      ],
      rewound: [[0, 1, 2, 'after'], ['after'], 'finished'],
      found: [['first'], ['first'], ['first'], ['rewound', 'again']],
      changed: {
        config: { lr: 0.1, layers: [1, 2], more: true, added: 5 },
        notes: 'changed',
        tags: ['a', 'b'],
        later: 1,
        state: 'finished',
        deleted: expect.stringContaining('Could not find run'),
      },
      artifacts: {
        versions: ['v0', 'v0', 'v1', 'v2'],
        same_bytes: true,
        drafted: true,
        refers: ['one', 'outside'],
        same_table: [[1], [2]],
        read: ['dataset', 300_007, { k: { v: 1 } }, 'what it is', 'COMMITTED'],
        verified: true,
        entry: 'one',
        logged_by: 'artifacts',
        used_by: ['artifacts'],
      },
      renamed: {
        aliases: { v2: ['latest'], v1: ['x'], v0: ['best', 'y'] },
        metadata: { k: { v: 1 }, more: [1] },
        tags: ['tag'],
        refused: expect.stringContaining('has the alias'),
        latest_after_delete: 'v1',
        never_used_again: 'v3',
        exists: [true, false],
        types: ['dataset'],
        collections: ['again', 'data', 'refers', 'tables'],
      },
    })
  })

  it.each(['clients', 'clients-oldest'] as const)(
    'scans each step of a long run exactly once, with and without keys, with wandb %s',
    async (environment) => {
      if (!isReady(environment)) return
      const program = [pythonIn(environment), clientProgram('wandb_scans.py'), environment]
      const seen = await runClient(program, await settings())
      expect((await server.takeRequests()).filter(({ status }) => status >= 400)).toEqual([])
      expect(seen).toEqual({
        all: true,
        pages: true,
        rare: [0, 500, 1000, 1500, 2000],
        // 0.22 does not leave out the end, which the server takes as a part of the range.
        range: Array.from({ length: environment === 'clients' ? 1_497 : 1_498 }, (_, index) => index + 3),
        large: 2_500,
        history: 2_500,
        too_large: expect.stringContaining('Ask for 1 to 100000 steps'),
        export: environment === 'clients' ? 'IncompleteRunHistoryError' : null,
      })
    },
  )

  it.each(['clients', 'clients-oldest'] as const)(
    'sends a run that was logged offline whole, without one failed request, with wandb %s',
    async (environment) => {
      if (!isReady(environment)) return
      const program = [pythonIn(environment), clientProgram('wandb_offline.py'), `offline-${environment}`]
      const seen = await runClient(program, await settings())
      expect((await server.takeRequests()).filter(({ status }) => status >= 400)).toEqual([])
      expect(seen).toMatchObject({
        state: 'finished',
        config: { lr: 0.1 },
        losses: [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5],
        saved: 'saved',
        saved_after: [],
        artifacts: ['data:v0', 'run-off-table:v0'],
        listed: ['data:v0'],
        collections: ['data'],
        file: 'one',
        table: [[1]],
      })
    },
  )

  it('links versions, and renames, tags and deletes collections, without one failed request', async () => {
    const program = [pythonIn('clients'), clientProgram('wandb_links.py'), 'links']
    const seen = await runClient(program, await settings())
    expect((await server.takeRequests()).filter(({ status }) => status >= 400)).toEqual([])
    const project = 'local/links'
    const shelf = `${project}-shelf/shelf`
    expect(seen).toMatchObject({
      linked: {
        linked: ['shelf:v1', true, 'data:v0', ['latest', 'best']],
        again: ['shelf:v1', ['again', 'best', 'latest']],
        draft: [`${project}/local-shelf:v0`, 'draft:v0'],
        used: ['shelf:best', 'first'],
        read: ['v1', 'v0', 'dataset', 'first'],
        source: `${project}/data:v0`,
        latest: 'v0',
        numbered: 'second',
        links: [[`${shelf}:v1`, ['again', 'best', 'latest', 'v1']]],
        listed: [
          ['v1', 'shelf:v1'],
          ['v0', 'shelf:v0'],
        ],
      },
      changed: {
        aliases: ['best', 'latest', 'more'],
        unlinked: [true, false, false],
        source_kept: 'first',
        refused: expect.stringContaining('not a linked artifact'),
      },
      collections: {
        sequence: [true, 'data-new', 'a sequence', ['b', 'c'], ['latest'], ['v1', 'v0']],
        portfolio: [false, 'shelf-new', 'a portfolio', ['b', 'c'], ['latest'], ['v0']],
        moved: 'notes',
      },
      deleted: { kept: true, shelf: false, sequence: false, left: ['draft'] },
    })
  })
})
