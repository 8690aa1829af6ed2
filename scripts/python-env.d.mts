export function pythonEnvFolder(
  cacheFolder: string,
  name: string,
  requirementFiles: readonly string[],
): string
export const COMPLETE_MARKER: string
export function pythonOf(envFolder: string): string | undefined
export function engineRequirementFiles(repositoryFolder: string, searchPath: string): string[]
export function acceleratorOf(searchPath: string): 'cpu' | 'gpu'
