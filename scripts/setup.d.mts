export function environmentFolder(
  name:
    | 'engine'
    | 'clients'
    | 'reference'
    | 'tools'
    | 'bench'
    | 'peers'
    | 'generators'
    | 'clients-oldest'
    | 'clients-newest'
    | 'openai-oldest'
    | 'openai-newest',
): string

export function lockedRequirements(): { file: string; python: number[] }[]
