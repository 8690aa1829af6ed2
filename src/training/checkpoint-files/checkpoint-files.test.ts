import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openFileBlobs } from '../../stores/blobs/files.ts'
import { openFolderWorkspace } from '../../stores/workspace/folders.ts'
import type { Workspace } from '../../stores/workspace/port.ts'
import { type CheckpointFiles, createCheckpointFiles } from './checkpoint-files.ts'
import { createHeldFolders, type HeldFolders } from './held-folders.ts'

const DAY_MS = 24 * 3_600_000
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
    vi.useFakeTimers({ now: Date.now() + 60 * DAY_MS + 60_000, toFake: ['Date'] })
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

describe('the folder of an adapter that is served', () => {
  const hold = (layOut = () => workspace.materialise('adapters/2', [])) => folders.hold('adapters/2', layOut)
  let folders: HeldFolders
  beforeEach(() => {
    folders = createHeldFolders(workspace)
  })

  it('stays until the last request with it has ended, and comes back with the next', async () => {
    const [first, second] = await Promise.all([hold(), hold()])
    await folders.remove('adapters/2')
    first.release()
    first.release()
    expect(await workspace.has('adapters/2')).toBe(true)
    second.release()
    const third = await hold()
    expect(await workspace.has('adapters/2')).toBe(true)
    third.release()
    await folders.remove('adapters/2')
    expect(await workspace.has('adapters/2')).toBe(false)
    await hold()
    expect(await workspace.has('adapters/2')).toBe(true)
  })

  it('is laid out again for a load where another server has removed it, once for all that load it', async () => {
    const shared = createHeldFolders({ ...workspace, isShared: true })
    const layOut = vi.fn(() => workspace.materialise('adapters/2', []))
    const held = await shared.hold('adapters/2', layOut)
    await workspace.remove('adapters/2')
    await Promise.all([held.ensure(), held.ensure()])
    expect(await workspace.has('adapters/2')).toBe(true)
    expect(layOut).toHaveBeenCalledTimes(2)
  })

  it('is laid out once for all, and again after a failure', async () => {
    const failing = vi.fn(() => Promise.reject(new Error('disk full')))
    const both = await Promise.allSettled([hold(failing), hold(failing)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(failing).toHaveBeenCalledTimes(1)
    await hold()
    expect(await workspace.has('adapters/2')).toBe(true)
  })
})
