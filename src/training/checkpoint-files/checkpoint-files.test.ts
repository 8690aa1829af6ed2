import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openFileBlobs } from '../../stores/blobs/files.ts'
import { openFolderWorkspace } from '../../stores/workspace/folders.ts'
import type { Workspace } from '../../stores/workspace/port.ts'
import { type CheckpointFiles, createCheckpointFiles } from './checkpoint-files.ts'

const WEEK_MS = 7 * 24 * 3_600_000
const KINDS = ['outputs', 'checkpoints', 'data', 'adapters', 'jobs']

let workspace: Workspace
let files: CheckpointFiles

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-files-'))
  workspace = await openFolderWorkspace(join(folder, 'engine'), await openFileBlobs(folder))
  const contents = { blobKeyOf: () => Promise.reject(new Error('not asked')) }
  // What is tested here asks for no contents.
  files = createCheckpointFiles({ contents: contents as never, workspace })
  for (const kind of KINDS) await workspace.materialise(`${kind}/1`, [])
})
afterEach(() => vi.useRealTimers())

const left = async () =>
  (await Promise.all(KINDS.map(async (kind) => ((await workspace.has(`${kind}/1`)) ? [kind] : [])))).flat()

describe('what a start removes of the workspace', () => {
  it('everything but the state of jobs, where no other server uses it', async () => {
    await files.clear('none')
    expect(await left()).toEqual(['jobs'])
  })

  it('what jobs have long done with, where another server may use it', async () => {
    await files.clear('may-use')
    expect(await left()).toEqual(KINDS)
    vi.useFakeTimers({ now: Date.now() + WEEK_MS + 60_000, toFake: ['Date'] })
    await files.clear('may-use')
    expect(await left()).toEqual(['adapters', 'jobs'])
  })

  it('the state of jobs that have ended, and not of one that begins meanwhile', async () => {
    await files.keepWorkOf(async () => {
      await workspace.materialise('jobs/2', [])
      return [{ id: '3' }]
    })
    expect(await workspace.list('jobs')).toEqual(['2'])
  })
})
