/** Storage key of the key that a person entered. */
const STORED = 'heddle.key'

/** The key while none was entered: a server in local mode accepts any. */
const LOCAL_KEY = 'local'

const listeners = new Set<() => void>()
let isRefused = false

/** The key of every request. */
export function currentKey(): string {
  return localStorage.getItem(STORED) ?? LOCAL_KEY
}

/** Stores a key that a person entered; refused requests are repeated. */
export function enterKey(key: string): void {
  localStorage.setItem(STORED, key)
  setRefused(false)
}

/** The server refused the key: the sign-in screen is shown. */
export function refuseKey(): void {
  setRefused(true)
}

/** For `useSyncExternalStore`: whether the server refuses the key. */
export const keyRefusal = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  get: (): boolean => isRefused,
}

function setRefused(value: boolean): void {
  isRefused = value
  for (const listener of listeners) listener()
}
