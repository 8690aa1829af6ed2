import type { Kysely } from 'kysely'

interface LimitsOfRequests {
  subject: string
  requests_per_minute: number | null
  tokens_per_month: number | null
  usd_per_month: number | null
  warn_at: number
  updated_by: string
  updated_at: string
}

interface Tables {
  limits: LimitsOfRequests
  api_keys: { id: string; user_id: string; project_id: string | null }
  users: { id: string; default_entity: string }
  usage_limits: { kind: string; name: string; limits: string; updated_at: string; updated_by: string }
  budgets: {
    id: string
    entity: string
    project: string | null
    key_id: string | null
    unit: string
    amount: number
    warn_at: number
    created_at: string
    created_by: string
  }
}

/** What entities and keys may use, and whose work a job is. Limits and budgets that were set before are kept. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('usage_limits')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('limits', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addColumn('updated_by', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_limits_key', ['kind', 'name'])
    .execute()

  await db.schema
    .createTable('budgets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('entity', 'text', (column) => column.notNull())
    .addColumn('project', 'text')
    .addColumn('key_id', 'text')
    .addColumn('unit', 'text', (column) => column.notNull())
    .addColumn('amount', 'double precision', (column) => column.notNull())
    .addColumn('warn_at', 'double precision', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('budgets_entity').on('budgets').column('entity').execute()

  for (const row of await db.selectFrom('limits').selectAll().execute()) await keep(db, row)
  await db.schema.dropTable('limits').execute()

  for (const column of ['entity', 'key_id'])
    await db.schema
      .alterTable('jobs')
      .addColumn(column, 'text', (added) => added.notNull().defaultTo(''))
      .execute()
  const ofEntity = ['kind', 'state', 'entity', 'run_at', 'id'] as const
  await db.schema.createIndex('jobs_entity').on('jobs').columns(ofEntity.slice()).execute()
}

async function keep(db: Kysely<Tables>, row: LimitsOfRequests): Promise<void> {
  const [, kind = '', name = ''] = /^(entity|key):(.*)$/s.exec(row.subject) ?? []
  const { updated_at, updated_by, warn_at, requests_per_minute } = row
  if (requests_per_minute !== null) {
    const limits = JSON.stringify({ requests_per_minute })
    await db.insertInto('usage_limits').values({ kind, name, limits, updated_at, updated_by }).execute()
  }
  const entity = kind === 'entity' ? name : await entityOfKey(db, name)
  const amounts = { tokens: row.tokens_per_month, usd: row.usd_per_month }
  for (const [unit, amount] of Object.entries(amounts)) {
    if (amount === null || entity === undefined) continue
    const of = { entity, project: null, key_id: kind === 'key' ? name : null }
    const id = `${row.subject}:${unit}`
    await db
      .insertInto('budgets')
      .values({ id, ...of, unit, amount, warn_at, created_at: updated_at, created_by: updated_by })
      .execute()
  }
}

async function entityOfKey(db: Kysely<Tables>, id: string): Promise<string | undefined> {
  const key = await db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select(['users.default_entity', 'api_keys.project_id'])
    .where('api_keys.id', '=', id)
    .executeTakeFirst()
  return key && (key.project_id?.split('/')[0] ?? key.default_entity)
}
