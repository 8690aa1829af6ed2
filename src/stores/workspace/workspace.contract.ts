import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Blobs } from '../blobs/port.ts'
import type { Workspace } from './port.ts'

/** A workspace, the blobs that it lays out, and its root as an engine on this machine has it. */
export interface OpenedWorkspace {
  workspace: Workspace
  blobs: Blobs
  root: string
}

/** The tests that every adapter of the workspace must pass. */
export function workspaceContract(open: () => Promise<OpenedWorkspace>): void {
  describe('workspace', () => {
    let opened: OpenedWorkspace
    beforeAll(async () => {
      opened = await open()
      await opened.blobs.put('contents/a', Buffer.from('bytes of a'))
      await opened.blobs.put('contents/b', Buffer.from('bytes of b'))
    })
    afterAll(() => opened.blobs[Symbol.asyncDispose]())

    const read = (...names: string[]) => readFile(join(opened.root, ...names), 'utf8')

    it('lays blobs out as the files of a folder, in place of its earlier files', async () => {
      const { workspace } = opened
      await workspace.materialise('checkpoints/1', [
        { name: 'config.json', blobKey: 'contents/a' },
        { name: 'weights of ü', blobKey: 'contents/b' },
      ])
      expect(await read('checkpoints/1', 'config.json')).toBe('bytes of a')
      expect(await read('checkpoints/1', 'weights of ü')).toBe('bytes of b')
      await workspace.materialise('checkpoints/1', [{ name: 'config.json', blobKey: 'contents/b' }])
      expect(await workspace.list('checkpoints')).toEqual(['1'])
      expect(await workspace.list('checkpoints/1')).toEqual(['config.json'])
      expect(await read('checkpoints/1', 'config.json')).toBe('bytes of b')
    })

    it('leaves nothing of a folder for which bytes are missing', async () => {
      const { workspace } = opened
      const files = ['a', 'none'].map((name) => ({ name, blobKey: `contents/${name}` }))
      await expect(workspace.materialise('lacking/1', files)).rejects.toThrow('none (contents/none)')
      expect(await workspace.list('lacking')).toEqual([])
      expect(await workspace.has('lacking/1')).toBe(false)
    })

    it('collects the files that an engine wrote, by name', async () => {
      const { workspace, root } = opened
      await workspace.prepare('outputs/1')
      expect(await workspace.has('outputs/1')).toBe(false)
      await mkdir(join(root, 'outputs/1'))
      for (const name of ['b', 'a']) await writeFile(join(root, 'outputs/1', name), `written to ${name}`)
      const collected: [string, string][] = []
      for await (const { name, bytes } of workspace.collect('outputs/1'))
        collected.push([name, Buffer.concat(await Array.fromAsync(bytes())).toString()])
      expect(collected).toEqual([
        ['a', 'written to a'],
        ['b', 'written to b'],
      ])
      await expect(Array.fromAsync(workspace.collect('outputs/none'))).rejects.toThrow()
    })

    it('removes folders, also unknown ones', async () => {
      const { workspace } = opened
      await workspace.materialise('removed/1', [{ name: 'a', blobKey: 'contents/a' }])
      await workspace.remove('removed/1')
      await workspace.remove('removed/1')
      expect([await workspace.has('removed/1'), await workspace.list('removed')]).toEqual([false, []])
      expect(await workspace.list('never')).toEqual([])
    })

    it.each(['../outside', '/etc', 'a/../../b', '', 'a//b', '.hidden'])(
      'refuses the folder %j',
      async (folder) => {
        await expect(opened.workspace.materialise(folder, [])).rejects.toThrow('Bad name of a folder')
      },
    )

    it.each(['../outside', '/etc/passwd', '', '.', '..', 'a/b'])('refuses the file %j', async (name) => {
      const files = [{ name, blobKey: 'contents/a' }]
      await expect(opened.workspace.materialise('refused/1', files)).rejects.toThrow('Bad name of a file')
    })
  })
}
