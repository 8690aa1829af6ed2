import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { controlDbContract } from './control-db.contract.ts'
import { migrateControlDb } from './migrate.ts'
import { openSqlite } from './sqlite.ts'

controlDbContract(async () => {
  const opened = openSqlite(await mkdtemp(join(tmpdir(), 'heddle-control-')))
  await migrateControlDb(opened)
  return opened
})
