import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Where a Python environment lives: a change of its requirements is another environment, and all clones of one user
 * share what they have in common.
 */
export function pythonEnvFolder(
  cacheFolder: string,
  name: string,
  requirementFiles: readonly string[],
): string {
  const hash = createHash('sha256')
  for (const file of requirementFiles) hash.update(readFileSync(file))
  return join(cacheFolder, 'python', `${name}-${hash.digest('hex').slice(0, 16)}`)
}

/** Written last, so that an interrupted installation does not count as an environment. */
export const COMPLETE_MARKER = 'heddle-complete'

/** The interpreter of a finished environment; undefined when there is none. */
export function pythonOf(envFolder: string): string | undefined {
  return existsSync(join(envFolder, COMPLETE_MARKER)) ? join(envFolder, 'bin', 'python') : undefined
}

/** Where an environment's packages lie, for an interpreter that is to find them beside its own. */
export function sitePackagesOf(envFolder: string): string {
  const version = /^version = (\d+\.\d+)/m.exec(readFileSync(join(envFolder, 'pyvenv.cfg'), 'utf8'))?.[1]
  return join(envFolder, 'lib', `python${version}`, 'site-packages')
}

/** The engine's requirement files for this machine: `gpu` where an NVIDIA driver is present, else `cpu`. */
export function engineRequirementFiles(repositoryFolder: string, searchPath: string): [string] {
  return [join(repositoryFolder, 'engine', `requirements-${acceleratorOf(searchPath)}.txt`)]
}

/** `gpu` where an NVIDIA driver is present, else `cpu`. `searchPath` is the PATH variable. */
export function acceleratorOf(searchPath: string): 'cpu' | 'gpu' {
  if (existsSync('/dev/nvidiactl')) return 'gpu'
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '')
  return folders.some((folder) => existsSync(join(folder, 'nvidia-smi'))) ? 'gpu' : 'cpu'
}
