export function environmentFolder(name: 'engine' | 'clients' | 'tools' | 'bench'): string
