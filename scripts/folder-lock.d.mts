/** Resolves with what gives the folder back, once no other process that lives makes it. */
export function lockFolder(folder: string): Promise<() => void>
