import { mkdtemp, stat } from 'node:fs/promises'
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
