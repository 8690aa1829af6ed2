import type { ControlDb, ControlTx } from '../stores/control-db/port.ts'
import type { RedactionHitsTable, RedactionRulesTable } from '../stores/control-db/tables.ts'

export function findRules(db: ControlTx, projectId: string): Promise<RedactionRulesTable | undefined> {
  return db.selectFrom('redaction_rules').selectAll().where('project_id', '=', projectId).executeTakeFirst()
}

/** Puts a project's rules in place of those before, and forgets the hits of rules that it no longer has. */
export async function putRules(
  tx: ControlTx,
  row: RedactionRulesTable,
  names: readonly string[],
): Promise<void> {
  await tx
    .insertInto('redaction_rules')
    .values(row)
    .onConflict((clash) =>
      clash.column('project_id').doUpdateSet({ rules: row.rules, updated_at: row.updated_at }),
    )
    .execute()
  const hits = tx.deleteFrom('redaction_hits').where('project_id', '=', row.project_id)
  await (names.length === 0 ? hits : hits.where('rule', 'not in', names)).execute()
}

export function listHits(control: ControlDb, projectId: string): Promise<RedactionHitsTable[]> {
  return control.selectFrom('redaction_hits').selectAll().where('project_id', '=', projectId).execute()
}

/** Counts hits of a rule; none for a project without rules, which was erased. */
export async function addHits(tx: ControlTx, { project_id, rule, hits }: RedactionHitsTable): Promise<void> {
  await tx
    .insertInto('redaction_hits')
    .columns(['project_id', 'rule', 'hits'])
    .expression((of) =>
      of
        .selectFrom('redaction_rules')
        .select((eb) => [
          'project_id',
          eb.cast<string>(eb.val(rule), 'text').as('rule'),
          eb.cast<number>(eb.val(hits), 'bigint').as('hits'),
        ])
        .where('project_id', '=', project_id),
    )
    .onConflict((clash) =>
      clash
        .columns(['project_id', 'rule'])
        .doUpdateSet((eb) => ({ hits: eb(eb.ref('redaction_hits.hits'), '+', eb.ref('excluded.hits')) })),
    )
    .execute()
}

/** Deletes the rules of projects, and their counts. */
export async function deleteRules(tx: ControlTx, projectIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('redaction_rules').where('project_id', 'in', projectIds).execute()
  await tx.deleteFrom('redaction_hits').where('project_id', 'in', projectIds).execute()
}
