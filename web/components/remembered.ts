import { useCallback, useState } from 'react'

const PREFIX = 'heddle.'

/** Reads what this browser remembers; whatever cannot be read is as if it had never been kept. */
export function recall<Value>(key: string, isValue: (value: unknown) => value is Value): Value | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + key) ?? 'null')
    return isValue(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Keeps a value in this browser, where it has room. */
export function remember(key: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(value))
  } catch {
    // A full or forbidden storage only means that it is forgotten.
  }
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
