/** Where this browser keeps the key that a person entered. */
const STORED = 'heddle.key'

/** What is sent while nobody has entered a key: a server in local mode takes any. */
const LOCAL_KEY = 'local'

const listeners = new Set<() => void>()
let isRefused = false

/** The key of every request. */
export function currentKey(): string {
  return localStorage.getItem(STORED) ?? LOCAL_KEY
}

/** Keeps a key that a person entered; what was refused is asked again. */
export function enterKey(key: string): void {
  localStorage.setItem(STORED, key)
  setRefused(false)
}

/** The server refused the key: the sign-in screen takes over. */
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
