import { mkdir, mkdtemp, readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFileBlobs } from '../blobs/files.ts'
import { openFolderWorkspace } from './folders.ts'
import { engineAt, type OpenedWorkspace, workspaceContract } from './workspace.contract.ts'

async function open(kind: 'files' | 'elsewhere'): Promise<OpenedWorkspace & { root: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-workspace-'))
  const root = join(folder, 'engine')
  const blobs = await openFileBlobs(folder)
  const known = kind === 'files' ? blobs : { open: blobs.open }
  return { workspace: await openFolderWorkspace(root, known), blobs, engine: engineAt(root), root }
}

describe('of blobs that are files of this machine', () => {
  workspaceContract(() => open('files'))

  it('does not copy bytes', async () => {
    const { workspace, blobs, root } = await open('files')
    await blobs.put('large', Buffer.alloc(1_000))
    await workspace.materialise('1', [{ name: 'file', blobKey: 'large' }])
    expect((await stat(join(root, '1/file'))).nlink).toBe(2)
  })
})

describe('of blobs elsewhere', () => {
  workspaceContract(() => open('elsewhere'))
})

describe('the root', () => {
  const newRoot = () => mkdtemp(join(tmpdir(), 'heddle-root-'))

  it.each([
    ['data', 'mine.txt'],
    ['.', 'notes'],
    ['outputs', 'a'],
  ])('is refused where it has files that Heddle has not made: %s/%s', async (folder, name) => {
    const root = await newRoot()
    await mkdir(join(root, folder), { recursive: true })
    await writeFile(join(root, folder, name), 'mine')
    await expect(openFolderWorkspace(root, { open: async () => undefined })).rejects.toThrow(
      `${root} has ${join(folder, name)}, which Heddle has not made`,
    )
    expect(await readdir(join(root, folder))).toEqual([name])
  })

  it('may be one of a version that made no marker', async () => {
    const root = await newRoot()
    const id = '01a2195b-1c6f-7f6e-8f1d-b6e8b5a2a111'
    for (const folder of [`outputs/${id}.partial`, `jobs/${id}`, `adapters/${'0a'.repeat(32)}`, 'logs/a'])
      await mkdir(join(root, folder), { recursive: true })
    const workspace = await openFolderWorkspace(root, { open: async () => undefined })
    expect(await workspace.list('jobs')).toEqual([id])
    // It has a marker from now on, so whatever is in it may be removed.
    await mkdir(join(root, 'jobs/other'))
    await openFolderWorkspace(root, { open: async () => undefined })
  })
})
