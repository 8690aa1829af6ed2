import type { KeyboardEvent } from 'react'
import { useKeys } from '../../../components/keys.ts'
import { nextPlace } from './tree-search.ts'
import type { TreeView } from './use-tree-view.ts'
import { changeLevels, hasChildren, isFold, onlyPathTo, toggle, toggleRepeated } from './visible-rows.ts'

/** Goes to a call; keys replace the address, a click can be taken back. */
export type Select = (id: string, how: 'push' | 'replace') => void

/** What keys and buttons do in a tree. The commands that take `by` go to the next or the previous such call. */
export interface TreeCommands {
  setOpen: (at: number, open: boolean) => void
  /** Shows calls that are repeated one by one, or again as one row, which is then selected. */
  setRepeated: (first: number, open: boolean) => void
  /** Opens one level more, or closes one. */
  changeLevels: (by: -1 | 1) => void
  /** Closes everything beside the path to the selected call. */
  onlyPath: () => void
  error: (by: -1 | 1) => void
  /** A call of the same name. */
  peer: (by: -1 | 1) => void
  /** A call under the same parent. */
  sibling: (by: -1 | 1) => void
  /** A call that the search found. */
  hit: (by: -1 | 1) => void
  /** Shows the time of the selected call, or again all of it. */
  fit: () => void
  onKeyDown: (event: KeyboardEvent) => void
}

/** The commands of a tree, also as keys. */
export function useTreeCommands(shown: TreeView, select: Select): TreeCommands {
  const { tree, place = 0, rows, unfolding, found } = shown
  const call = tree.calls[place]
  const go = (next: number | undefined) => {
    const id = next === undefined ? undefined : tree.calls[next]?.id
    if (id !== undefined) select(id, 'replace')
  }
  const row = rows.indexOf(place)
  const step = (by: number) => go(rows[Math.min(rows.length - 1, Math.max(0, row + by))])
  const parent = tree.parents[place] ?? -1
  const jump = (by: -1 | 1, test: (at: number) => boolean) => go(nextPlace(tree, place, by, test))
  const isOpen = rows[row + 1] !== undefined && tree.parents[rows[row + 1] ?? 0] === place
  const isFolded = (at: number) => found === undefined && isFold(tree, unfolding, at)
  const commands: Omit<TreeCommands, 'onKeyDown'> = {
    setOpen: (at, open) => {
      if (isFolded(at)) commands.setRepeated(at, open)
      else if (hasChildren(tree, at)) shown.setUnfolding(toggle(tree, unfolding, at, open))
    },
    setRepeated: (first, open) => {
      shown.setUnfolding(toggleRepeated(tree, unfolding, first, open))
      if (!open) go(first)
    },
    changeLevels: (by) => shown.setUnfolding(changeLevels(tree, unfolding, by)),
    onlyPath: () => shown.setUnfolding(onlyPathTo(tree, place)),
    error: (by) => jump(by, (at) => tree.calls[at]?.status === 'error'),
    peer: (by) => jump(by, (at) => tree.calls[at]?.name === call?.name),
    sibling: (by) => jump(by, (at) => tree.parents[at] === parent),
    hit: (by) => {
      const hits = new Set(found?.hits)
      jump(by, (at) => hits.has(at))
    },
    fit: () => shown.fitTo(place),
  }
  const steps = new Map<string, () => void>([
    ['ArrowDown', () => step(1)],
    ['ArrowUp', () => step(-1)],
    ['PageDown', () => step(PAGE_ROWS)],
    ['PageUp', () => step(-PAGE_ROWS)],
    ['Home', () => go(rows[0])],
    ['End', () => go(rows.at(-1))],
    ['ArrowRight', () => (isOpen ? step(1) : commands.setOpen(place, true))],
    ['ArrowLeft', () => (isOpen ? commands.setOpen(place, false) : go(parent < 0 ? undefined : parent))],
    ['Enter', () => commands.setOpen(place, !isOpen)],
  ])
  useKeys('Trace', [
    { keys: 'j', does: 'Next row', run: () => step(1) },
    { keys: 'k', does: 'Previous row', run: () => step(-1) },
    { keys: 'e', does: 'Next error', run: () => commands.error(1) },
    { keys: 'shift+e', does: 'Previous error', run: () => commands.error(-1) },
    { keys: 'p', does: 'Next call of the same name', run: () => commands.peer(1) },
    { keys: 'shift+p', does: 'Previous call of the same name', run: () => commands.peer(-1) },
    { keys: 's', does: 'Next call under the same parent', run: () => commands.sibling(1) },
    { keys: 'shift+s', does: 'Previous call under the same parent', run: () => commands.sibling(-1) },
    { keys: ']', does: 'Open one level more', run: () => commands.changeLevels(1) },
    { keys: '[', does: 'Close one level', run: () => commands.changeLevels(-1) },
    { keys: '.', does: 'Close everything beside this path', run: commands.onlyPath },
    {
      keys: 'r',
      does: 'Show repeated calls one by one, or as one',
      run() {
        const first = tree.folds.firsts[place] ?? -1
        if (first >= 0) commands.setRepeated(first, isFolded(first))
      },
    },
    { keys: 'z', does: 'Show the time of this call, or all of it', run: commands.fit },
  ])
  const onKeyDown = (event: KeyboardEvent) => {
    const run = steps.get(event.key)
    if (run === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    run()
  }
  return { ...commands, onKeyDown }
}

/** What a page key moves. */
const PAGE_ROWS = 20
