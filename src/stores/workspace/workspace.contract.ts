import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Blobs } from '../blobs/port.ts'
import type { Workspace } from './port.ts'

/** A workspace, the blobs that it lays out, and an engine that uses it. */
export interface OpenedWorkspace {
  workspace: Workspace
  blobs: Blobs
  engine: WorkspaceOfEngine
}

/** What an engine sees and does. */
export interface WorkspaceOfEngine {
  read(folder: string, file: string): Promise<string>
  /** Writes a folder with these files, in place of any of that name. */
  write(folder: string, files: Record<string, string>): Promise<void>
}

/** An engine on this machine, which has the same folder as root. */
export function engineAt(root: string): WorkspaceOfEngine {
  return {
    read: (folder, file) => readFile(join(root, folder, file), 'utf8'),
    async write(folder, files) {
      await mkdir(join(root, folder))
      for (const [name, text] of Object.entries(files)) await writeFile(join(root, folder, name), text)
    },
  }
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

    it('lays blobs out as the files of a folder, in place of its earlier files', async () => {
      const { workspace, engine } = opened
      const { read } = engine
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
      const { workspace, engine } = opened
      await workspace.prepare('outputs/1')
      expect(await workspace.has('outputs/1')).toBe(false)
      await engine.write('outputs/1', { b: 'written to b', a: 'written to a' })
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

    it('removes a folder with all folders in it', async () => {
      const { workspace } = opened
      for (const name of ['1', '2'])
        await workspace.materialise(`many/${name}`, [{ name: 'a', blobKey: 'contents/a' }])
      await workspace.remove('many')
      expect([await workspace.has('many/1'), await workspace.list('many')]).toEqual([false, []])
    })

    it('lists the folders that are old', async () => {
      const { workspace } = opened
      await workspace.materialise('aged/1', [{ name: 'a', blobKey: 'contents/a' }])
      expect(await workspace.listOld('aged', Date.now() - 60_000)).toEqual([])
      expect(await workspace.listOld('aged', Date.now() + 60_000)).toEqual(['1'])
      expect(await workspace.listOld('never', Date.now())).toEqual([])
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
