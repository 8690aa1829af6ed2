import { useEffect, useRef, useSyncExternalStore } from 'react'

/** One thing that keys do. Keys are written `j`, `mod+k`, `shift+e`, or `g t` for one after the other. */
export interface KeyBinding {
  keys: string
  /** For the sheet: what it does, in a few words. */
  does: string
  run: () => void
}

interface Scope {
  name: string
  bindings: readonly KeyBinding[]
}

/** What the first key of a sequence is waited for. */
const SEQUENCE_MS = 1000

/** Innermost last: what mounted later is asked first. */
let scopes: readonly Scope[] = []
const listeners = new Set<() => void>()
let pending = ''
let pendingSince = 0

/** Binds keys while the component is mounted; the sheet shows them under the name of the scope. */
export function useKeys(name: string, bindings: readonly KeyBinding[]): void {
  const latest = useRef(bindings)
  useEffect(() => {
    latest.current = bindings
  })
  const shape = bindings.map(({ keys, does }) => `${keys}\t${does}`).join('\n')
  useEffect(() => {
    const scope: Scope = {
      name,
      bindings: shape
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const [keys = '', does = ''] = line.split('\t')
          return { keys, does, run: () => latest.current.find((binding) => binding.keys === keys)?.run() }
        }),
    }
    setScopes([...scopes, scope])
    return () => setScopes(scopes.filter((other) => other !== scope))
  }, [name, shape])
}

/** All scopes that are bound now, for the sheet. */
export function useKeyScopes(): readonly Scope[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => scopes,
  )
}

function setScopes(next: readonly Scope[]): void {
  if (scopes.length === 0 && next.length > 0) document.addEventListener('keydown', onKeyDown)
  if (next.length === 0) document.removeEventListener('keydown', onKeyDown)
  scopes = next
  for (const listener of listeners) listener()
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const pressed = nameOf(event)
  if (isOwnedByFocus(event, pressed)) return
  const sequence =
    pending !== '' && event.timeStamp - pendingSince < SEQUENCE_MS ? `${pending} ${pressed}` : ''
  pending = ''
  const all = scopes.toReversed().flatMap((scope) => scope.bindings)
  const found = all.find(({ keys }) => keys === sequence) ?? all.find(({ keys }) => keys === pressed)
  if (found !== undefined) {
    event.preventDefault()
    found.run()
  } else if (all.some(({ keys }) => keys.startsWith(`${pressed} `))) {
    pending = pressed
    pendingSince = event.timeStamp
  }
}

function nameOf(event: KeyboardEvent): string {
  const modifier = event.ctrlKey || event.metaKey ? 'mod+' : ''
  // The character of `?` already says that shift was held; letters are named with it.
  const shift = event.shiftKey && /^[A-Za-z]$/.test(event.key) ? 'shift+' : ''
  return `${modifier}${shift}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`
}

/** What the browser itself activates by Enter and the space bar. */
const ACTIVATED =
  'a[href], button, summary, [role="button"], [role="tab"], [role="menuitem"], [role="option"], [role="switch"]'

const TYPED_INTO = 'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable="true"]'

/** Typing, an open dialog or menu, and the browser's own keys come first. */
function isOwnedByFocus(event: KeyboardEvent, pressed: string): boolean {
  if (event.altKey) return true
  if (document.querySelector('[data-modal], [role="menu"], [role="listbox"]:not([hidden])') !== null)
    return true
  const target = event.target instanceof HTMLElement ? event.target : null
  // What opened over the page has its own keys; Escape closes it.
  if (target?.closest('[role="dialog"]') != null) return true
  if ((pressed === 'Enter' || pressed === ' ') && target?.closest(ACTIVATED) != null) return true
  const isTyping = target?.matches(TYPED_INTO) ?? false
  return isTyping && !pressed.startsWith('mod+') && pressed !== 'Escape'
}

/** Does what a key does, for the button beside which the key stands. */
export function pressKey(keys: string): void {
  scopes
    .toReversed()
    .flatMap((scope) => scope.bindings)
    .find((binding) => binding.keys === keys)
    ?.run()
}
