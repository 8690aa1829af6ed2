import { useCallback, useState } from 'react'

const PREFIX = 'heddle.'

/** How long something is remembered: by this browser, or by this tab until it is closed. */
type Where = 'browser' | 'tab'

const storageOf = (where: Where) => (where === 'tab' ? sessionStorage : localStorage)

/** Reads a stored value; one that cannot be read counts as absent. */
export function recall<Value>(
  key: string,
  isValue: (value: unknown) => value is Value,
  where: Where = 'browser',
): Value | undefined {
  try {
    const value: unknown = JSON.parse(storageOf(where).getItem(PREFIX + key) ?? 'null')
    return isValue(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Keeps a value where there is room. */
export function remember(key: string, value: unknown, where: Where = 'browser'): void {
  try {
    storageOf(where).setItem(PREFIX + key, JSON.stringify(value))
  } catch {
    // When the storage is full or forbidden, the value is lost.
  }
}

/** Removes all that this tab remembers. */
export function forgetTab(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
}

const isNumber = (value: unknown): value is number => typeof value === 'number'

/** A number that a person set, as the width of a panel. */
export function useRememberedNumber(key: string, initial: number): [number, (value: number) => void] {
  const [value, setValue] = useState(() => recall(key, isNumber) ?? initial)
  const set = useCallback(
    (next: number) => {
      setValue(next)
      remember(key, next)
    },
    [key],
  )
  return [value, set]
}
