import { readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

export async function isFolder(path: string | undefined): Promise<boolean> {
  if (path === undefined) return false
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

/** Where the Hugging Face libraries keep the main revision of a model; undefined when they have not fetched it. */
export async function cachedModelFolder(
  id: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const { HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = environment
  const home = HF_HOME ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'huggingface')
  const folder = join(HF_HUB_CACHE ?? join(home, 'hub'), `models--${id.replaceAll('/', '--')}`)
  try {
    return join(folder, 'snapshots', (await readFile(join(folder, 'refs/main'), 'utf8')).trim())
  } catch {
    return undefined
  }
}
