/**
 * Writes what follows from the wire schemas: `contract/openapi.json`, `contract/job.schema.json` and the engine's
 * `contract.py`; and the checksums of new migrations into `migrations/checksums.json`. With `--check` nothing is
 * written, and a stale file ends it with status 1.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { z } from 'zod'
import { routesWithoutStores } from '../src/app-without-stores.ts'
import { openApiDocument } from '../src/http/openapi.ts'
import { checkAppliedMigrations, readMigrationChecksums } from '../src/stores/applied-migrations.ts'
import { WorkerMessage, WorkerRequest } from '../src/training/trainer/contract-wire.ts'
import { VERSION } from '../src/version.ts'
import { readArguments } from './arguments.ts'
import { pythonContract } from './python-contract.ts'

const ROOT = resolve(import.meta.dirname, '..')
const CHECKSUMS = join(ROOT, 'migrations/checksums.json')

const USAGE = `Usage: npm run gen [-- --check]

Writes what follows from the wire schemas, and the checksums of new migrations.
  --check  writes nothing; status 1 where a file is out of date
`

async function main(): Promise<void> {
  const { values } = readArguments(USAGE, { options: { check: { type: 'boolean' } }, strict: true })
  const stale: string[] = []
  for (const [path, text] of Object.entries(await generated())) {
    const present = await readFile(path, 'utf8').catch(() => undefined)
    if (present === text) continue
    if (values.check) stale.push(relative(ROOT, path))
    else await writeFile(path, text)
  }
  if (stale.length === 0) return
  process.stderr.write(`Out of date, run "npm run gen": ${stale.join(', ')}\n`)
  process.exitCode = 1
}

async function generated(): Promise<Record<string, string>> {
  const contract = z.toJSONSchema(z.union([WorkerRequest, WorkerMessage]), { io: 'output' })
  return {
    [join(ROOT, 'contract/openapi.json')]: json(await openApiDocument(routesWithoutStores(), VERSION)),
    [join(ROOT, 'contract/job.schema.json')]: json({ title: 'Messages of a trainer worker', ...contract }),
    [join(ROOT, 'engine/src/engine/contract.py')]: pythonContract(contract),
    [CHECKSUMS]: json(await migrationChecksums()),
  }
}

/**
 * A migration that is in the list is frozen; only new ones are added.
 * @throws Error that names one which was edited.
 */
async function migrationChecksums(): Promise<object> {
  const landed = JSON.parse(await readFile(CHECKSUMS, 'utf8')) as Record<string, Record<string, string>>
  const lists = Object.entries({ control: '.ts', trace: '.sql' }).map(async ([store, extension]) => {
    const present = await readMigrationChecksums(join(ROOT, 'migrations', store), extension)
    checkAppliedMigrations(present, new Map(Object.entries(landed[store] ?? {})))
    return [store, Object.fromEntries(present)]
  })
  return Object.fromEntries(await Promise.all(lists)) as object
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

await main()
