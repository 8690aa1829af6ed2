import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from './client-program.ts'
import { KEY, runClient, startServer } from './server.ts'

it('PyPI weave: a value made by a class is an object, and the other way round', async () => {
  await using server = await startServer({ HEDDLE_CACHE: '/nonexistent/cache' })
  const cache = await mkdtemp(join(tmpdir(), 'heddle-weave-cache-'))
  const seen = await runClient([pythonIn('clients'), clientProgram('weave_typed_objects.py')], {
    WANDB_BASE_URL: server.url,
    WANDB_API_KEY: KEY,
    WEAVE_SERVER_CACHE_DIR: cache,
  }).finally(() => rm(cache, { recursive: true, force: true }))
  expect(seen).toEqual({
    by_class: {
      rows: [
        { x: 1, expected: 2 },
        { x: 2, expected: 4 },
      ],
      code: 'def add(): ...\n',
      model: ['Small', 'class Small: ...\n', { size: 1.5 }],
      evaluation: [true, 2],
      model_ref: 1.5,
    },
    by_publishing: {
      datasets: ['Rows', 'published'],
      rows: 'table',
      models: 2,
      scorers: ['exact'],
      source: true,
      ops: true,
      deleted: 1,
      left: ['Rows'],
    },
  })
})
