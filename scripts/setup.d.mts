export function environmentFolder(
  name: 'engine' | 'clients' | 'reference' | 'tools' | 'bench' | 'peers',
): string
