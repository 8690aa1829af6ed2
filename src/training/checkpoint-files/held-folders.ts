import { LRUCache } from 'lru-cache'
import type { Workspace } from '../../stores/workspace/port.ts'

/** Folders that are known to be there; the workspace is asked about others. */
const KNOWN_MAX = 10_000

/** A folder that stays until it is released. */
export interface HeldFolder {
  name: string
  /** Looks whether it is there, which another server may have changed, and has it laid out again where it is not. */
  ensure(): Promise<void>
  release(): void
}

/** Folders that several users share, and that are removed when none of them needs them. */
export interface HeldFolders {
  /** Has a folder laid out unless it is there. */
  hold(folder: string, layOut: () => Promise<unknown>): Promise<HeldFolder>
  /** Removes a folder, or what holds it last does; the next to hold it has it laid out again. */
  remove(folder: string): Promise<void>
}

export function createHeldFolders(workspace: Pick<Workspace, 'has' | 'remove' | 'isShared'>): HeldFolders {
  /** Of folders that are there, or are being laid out. */
  const laid = new LRUCache<string, Promise<void>>({ max: KNOWN_MAX })
  const users = new Map<string, number>()
  const unwanted = new Set<string>()
  const removals = new Map<string, Promise<void>>()

  async function layOutUnlessThere(folder: string, layOut: () => Promise<unknown>): Promise<void> {
    await removals.get(folder)?.catch(() => {})
    if (!(await workspace.has(folder))) await layOut()
  }

  function begin(folder: string, work: Promise<void>): Promise<void> {
    laid.set(folder, work)
    work.catch(() => laid.delete(folder))
    return work
  }

  const whenLaidOut = (folder: string, layOut: () => Promise<unknown>): Promise<void> =>
    laid.get(folder) ?? begin(folder, layOutUnlessThere(folder, layOut))

  /** One after the other, so that no folder is replaced while it is read. */
  async function ensure(folder: string, layOut: () => Promise<unknown>): Promise<void> {
    if (!workspace.isShared) return
    const before = whenLaidOut(folder, layOut)
    await begin(
      folder,
      before.then(() => layOutUnlessThere(folder, layOut)),
    )
  }

  async function removeNow(folder: string): Promise<void> {
    unwanted.delete(folder)
    laid.delete(folder)
    const removal = workspace.remove(folder).finally(() => removals.delete(folder))
    removals.set(folder, removal)
    await removal
  }

  function leave(folder: string): void {
    const left = (users.get(folder) ?? 1) - 1
    if (left > 0) users.set(folder, left)
    else {
      users.delete(folder)
      // What cannot be removed now is removed by the next start.
      if (unwanted.has(folder)) removeNow(folder).catch(() => {})
    }
  }

  return {
    async hold(folder, layOut) {
      users.set(folder, (users.get(folder) ?? 0) + 1)
      let isHeld = true
      const release = (): void => {
        if (isHeld) leave(folder)
        isHeld = false
      }
      try {
        await whenLaidOut(folder, layOut)
      } catch (error) {
        release()
        throw error
      }
      return { name: folder, ensure: () => ensure(folder, layOut), release }
    },

    async remove(folder) {
      if (users.has(folder)) unwanted.add(folder)
      else await removeNow(folder)
    },
  }
}
