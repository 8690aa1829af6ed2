import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { createLog } from '../src/log.ts'
import { openStores } from '../src/open-stores.ts'

/** Makes the embedded databases with all their tables once, which the servers of tests then copy. */
export default async function makeMigratedFolder({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-migrated-'))
  const log = createLog({ logLevel: 'error', logFormat: 'json' })
  const stores = await openStores({ data: folder, workspace: join(folder, 'engine') }, log)
  await stores[Symbol.asyncDispose]()
  provide('migratedFolder', folder)
  return () => rm(folder, { recursive: true, force: true })
}
