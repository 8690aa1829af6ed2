import { useRouterState } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Select } from './tree/use-tree-commands.ts'

/**
 * The selected call, at once in the tree and in the address. While a key is held, only the call at which it stops gets
 * into the address: each call there is requested, and browsers refuse hundreds of changes within seconds.
 * @param id the call in the address
 * @param go puts another call there
 */
export function useSelection(id: string, go: Select): [string, Select] {
  const [selected, setSelected] = useState(id)
  const isRepeating = useRef(false)
  /** The last call that a held key has selected. */
  const held = useRef<string>(undefined)

  // While a newer address is on its way, this one is of an earlier selection. A layout effect comes before further
  // keys.
  const isMoving = useRouterState({ select: ({ status }) => status === 'pending' })
  useLayoutEffect(() => {
    if (!isMoving && held.current === undefined) setSelected(id)
  }, [id, isMoving])

  const latestGo = useRef(go)
  useEffect(() => {
    latestGo.current = go
  })
  useEffect(() => {
    const listeners = new AbortController()
    const { signal } = listeners
    function pressed({ repeat }: KeyboardEvent): void {
      isRepeating.current = repeat
    }
    function released(): void {
      isRepeating.current = false
      if (held.current !== undefined) latestGo.current(held.current, 'replace')
      held.current = undefined
    }
    addEventListener('keydown', pressed, { capture: true, signal })
    addEventListener('keyup', released, { signal })
    // A window that is left hears of no release.
    addEventListener('blur', released, { signal })
    return () => listeners.abort()
  }, [])

  function select(next: string, how: 'push' | 'replace'): void {
    const isHeld = how === 'replace' && isRepeating.current
    setSelected(next)
    held.current = isHeld ? next : undefined
    if (!isHeld) go(next, how)
  }

  return [selected, select]
}
