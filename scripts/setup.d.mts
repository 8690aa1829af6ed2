export function environmentFolder(name: 'engine' | 'clients' | 'tools'): string
