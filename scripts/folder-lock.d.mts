/** Resolves with a function that releases the lock, once no other live process holds it. */
export function lockFolder(folder: string): Promise<() => void>
