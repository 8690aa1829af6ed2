import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { newId } from '../../ids.ts'
import { SILENT } from '../../test-log.ts'
import { migrateControlDb } from './migrate.ts'
import type { ControlDb } from './port.ts'
import { openPostgres } from './postgres.ts'
import type { PostgresOptions } from './postgres-address.ts'
import { openSqlite } from './sqlite.ts'
import { createPostgresDatabase } from './test-postgres-database.ts'

/** A new database, by default of the PostgreSQL server of this run. */
export async function newTestDatabase({
  server = inject('servers').postgres.url,
  encoding = 'UTF8',
} = {}): Promise<PostgresOptions> {
  const name = `test_${newId().replaceAll('-', '')}`
  return { url: await createPostgresDatabase(server, { name, encoding }) }
}

/**
 * An empty control database with all migrations: one in a temporary folder, or on the PostgreSQL server of this run.
 */
export async function openTestControlDb(): Promise<ControlDb & AsyncDisposable> {
  const servers: { postgres: { url: string } } | undefined = inject('servers')
  const folder = await mkdtemp(join(tmpdir(), 'heddle-control-'))
  const control =
    servers === undefined ? openSqlite(folder) : await openPostgres(await newTestDatabase(), SILENT)
  await migrateControlDb(control)
  const close = control[Symbol.asyncDispose]
  return Object.assign(control, {
    async [Symbol.asyncDispose]() {
      await close()
      await rm(folder, { recursive: true })
    },
  })
}
