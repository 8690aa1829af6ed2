import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

/** Makes a folder for the data folders of tests, which ends with the run: some servers end with their process alone. */
export default async function makeTestFolder({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-tests-'))
  provide('testFolder', folder)
  // A database that ends with its process may still write.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 20 })
}
